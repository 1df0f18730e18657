"""Neo4j Browser as the embedded server serves it, driven in a headless Chromium.

With KGP_NEO4J_PICTURES=docs/images the pictures of docs/browser.md are made anew.
"""

import base64
import html
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from zipfile import ZipFile

import pytest
from chromium import PATIENCE, keep_picture
from graphs import rows
from neo4j.graph import Node
from playwright.sync_api import Browser, Locator, Page, expect
from small_graphs import keep_one

from kgp_neo4j import Corpus, Database, install
from kgp_neo4j.cli import cli
from kgp_neo4j.corpus.answer.traces import remove, store
from kgp_neo4j.corpus.load.stored import corpora, delete_corpus
from kgp_neo4j.demo import QUESTION, SETTINGS, prepare, prepare_graph
from kgp_neo4j.environment.folders import Connection, Folders
from kgp_neo4j.graphdb.server import startup as server
from kgp_neo4j.graphdb.statements import folder
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.load.graphs import delete_graph, graphs

pytestmark = pytest.mark.slow

_PLACE = resources.files("kgp_neo4j.cypher").joinpath("browser")
_GUIDE = _PLACE.joinpath("guide.html").read_text(encoding="utf-8")
_STYLE = _PLACE.joinpath("style.grass").read_text(encoding="utf-8")
_QUERIES = [
    html.unescape(text)
    for text in re.findall(r'<pre class="code runnable" mode="cypher">(.*?)</pre>', _GUIDE, re.S)
]


@pytest.fixture(scope="module")
def served(connection: Connection, database: Database, folders: Folders) -> Iterator[Database]:
    """The embedded server of this test run, with the demo under the name that the guide has."""
    own = connection if connection.embedded else server.ensure(folders, echo=print)
    with Database(own) as database:
        if not connection.embedded:
            install(database)
        made = "demo" not in {each.name for each in corpora(database)}
        prepare(database, "demo")
        mapped = "demo" not in {each.name for each in graphs(database)}
        prepare_graph(database, "demo")
        asked = Corpus("demo", database=database)
        kept = store(database, asked.ask(QUESTION, settings=replace(SETTINGS, budget=4)))
        yield database
        remove(database, [kept])
        if made:
            delete_corpus(database, "demo")
        if mapped:
            delete_graph(database, "demo")
    if not connection.embedded:
        server.stop(folders)


@pytest.mark.parametrize("query", _QUERIES, ids=range(1, len(_QUERIES) + 1))
def test_every_query_of_the_guide_finds_something(served: Database, query: str) -> None:
    assert "\n" not in query  # Browser would run the first line alone
    assert rows(served, query)


def test_the_guide_needs_nothing_from_elsewhere() -> None:
    assert len(_QUERIES) == _GUIDE.count("runnable") > 10
    assert not re.search(r"https?://|src=|<script|<link", _GUIDE)
    assert _GUIDE.count("<slide") == _GUIDE.count("</slide>") == 6


def test_every_label_has_a_style_and_a_title_that_reads_well(served: Database) -> None:
    styled = set(re.findall(r"^node\.(\w+)", _STYLE, re.M))
    found = rows(
        served,
        "MATCH (n) WHERE n.corpus = 'demo' OR n.graph = 'demo' OR n.name = 'demo' "
        "RETURN DISTINCT [l IN labels(n) WHERE l IN $styled] AS labels, "
        "coalesce(n.title, n.name, n.type) AS title",
        styled=sorted(styled),
    )
    assert all(row["labels"] for row in found)
    assert all(row["title"] is not None and len(row["title"]) <= 80 for row in found)
    captions = re.findall(r'caption: "(.*)";', _STYLE)
    assert len(captions) == _STYLE.count("{\n")
    assert not any(":" in caption for caption in captions)  # Browser would drop the style


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page with a storage of its own: nobody is logged in."""
    context = chromium.new_context(viewport={"width": 1500, "height": 860})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def _open(page: Page, address: str | None, connection: Connection) -> None:
    """Open an address of Browser and log in, as a person does."""
    page.goto(address)
    page.get_by_test_id("password").fill(connection.password)
    page.get_by_test_id("connect").click()
    # The guide comes by itself, some seconds after the login.
    expect(page.get_by_test_id("guidesDrawer")).to_contain_text("Questions over many documents")


def _filled(page: Page, link: str | None) -> str:
    """Return the query that a link holds, once the editor shows its beginning."""
    (query,) = parse_qs(urlsplit(link or "").query)["arg"]
    lines = page.locator("[data-testid=activeEditor] .view-lines")
    expect(lines).to_contain_text(query[:40].replace(" ", "\xa0"))
    return query


def _run(page: Page) -> Locator:
    """Run what is in the editor; return the frame of its result, the topmost one."""
    frames = page.get_by_test_id("frame")
    before = frames.count()
    page.get_by_test_id("editor-Run").click()
    expect(frames).to_have_count(before + 1)
    return frames.first


def _from_guide(page: Page, query: str) -> Locator:
    """Click a query of the guide on the slide that has it, and run it."""
    slide = next(
        n
        for n, part in enumerate(_GUIDE.split("<slide")[1:], 1)
        if html.escape(query, False) in part
    )
    guide = page.get_by_test_id("guidesDrawer")
    guide.page.get_by_test_id(f"pagination-{slide}").click()
    guide.locator("pre.runnable:visible").filter(has_text=query[:60]).first.click()
    expect(page.locator("[data-testid=activeEditor] .view-lines")).to_contain_text(query[:20])
    return _run(page)


def _nodes(frame: Locator) -> Locator:
    return frame.locator("svg g.node")


def _distinct(database: Database, query: str) -> set[str]:
    """Return the ids of the nodes that a query returns."""
    with database.driver.session() as session:
        return {
            value.element_id
            for record in session.run(query)
            for value in record.values()
            if isinstance(value, Node)
        }


def _picture(page: Page, name: str, frame: Locator | None = None) -> None:
    """Keep a picture of the page, or of one frame without the guide beside it."""
    if "KGP_NEO4J_PICTURES" in os.environ:
        if frame is not None and page.get_by_test_id("guidesDrawer").is_visible():
            page.get_by_test_id("navigationGuides").click()
        page.wait_for_timeout(2500)  # until the nodes have found their places
        keep_picture(frame or page, name)


@pytest.mark.browser
def test_the_guide_opens_and_its_procedures_run(page: Page, served: Database) -> None:
    _open(page, served.connection.browser_address, served.connection)
    helped = next(q for q in _QUERIES if q == "CALL custom.kgp.help()")
    expect(_from_guide(page, helped)).to_contain_text("custom.kgp.seedsByVector")
    ranked = next(q for q in _QUERIES if "retrieve" in q and "rank" in q)
    expect(_from_guide(page, ranked)).to_contain_text("Hesk Bridge")
    evidence = next(q for q in _QUERIES if "custom.kgp.show(" in q)
    frame = _from_guide(page, evidence)
    wanted = _distinct(served, evidence)
    assert len(wanted) > 4
    expect(_nodes(frame)).to_have_count(len(wanted))
    # The style is there, without a frame that lists it: a passage has its colour and its title.
    expect(page.get_by_test_id("frame").filter(has_text="node.Passage")).to_have_count(0)
    colour = re.search(r"node\.Passage \{[^}]*?\n  color: (#\w+)", _STYLE)
    circles = frame.locator(f'svg g.node circle[fill="{colour[1]}"]')
    expect(circles.first).to_be_visible()
    expect(_nodes(frame).filter(has_text="Hesk").first).to_be_visible()
    _picture(page, "browser-guide.png")
    traced = next(q for q in _QUERIES if "custom.kgp.trace(" in q)
    way = _from_guide(page, traced)
    expect(way.locator('svg g.relationship path[fill="#1E4FA8"]')).to_have_count(2)
    _picture(page, "browser-trace.png", way)
    _picture(page, "browser.png", page.get_by_test_id("frame").nth(1))


@pytest.mark.browser
def test_a_style_of_the_users_own_stays(page: Page, served: Database) -> None:
    """Ours is laid where there is none, as at first and after `:style reset`."""
    address = served.connection.browser_address
    beside = f"{served.connection.browser}/browser/kgp/guide.html"  # where no Browser runs

    def kept(before: str) -> str:
        page.goto(beside)
        page.evaluate("style => localStorage.setItem('neo4j.grass', style)", before)
        page.goto(address)
        expect(page.get_by_test_id("password")).to_be_visible()
        style: str = page.evaluate("localStorage.getItem('neo4j.grass')")
        return style

    first = kept("null")
    assert '"node.Passage":' in first
    own = '{"node":{"color":"#123456"}}'
    assert kept(own) == own
    assert kept("null") == first


@pytest.mark.browser
def test_the_link_of_an_answer_fills_the_editor(page: Page, served: Database) -> None:
    answer = Corpus("demo", database=served).ask(QUESTION, settings=replace(SETTINGS, budget=4))
    _open(page, answer.browser, served.connection)
    query = _filled(page, answer.browser)
    assert query.startswith("CALL custom.kgp.show([")
    shown = set(re.findall(r"'(\w+)'", query))
    assert shown <= {passage.id for passage in answer.passages}
    documents = {p.document for p in answer.passages if p.id in shown}
    expect(_nodes(_run(page))).to_have_count(len(shown | documents))


@pytest.mark.browser
@pytest.mark.parametrize("picture", ["structure.png", "browser-mindmap.png"])
def test_links_of_cells_and_mind_maps_show_them(page: Page, served: Database, picture: str) -> None:
    if picture == "structure.png":
        asked = "Which light in Table 1 has the greatest height?"
        link = Corpus("demo", database=served).ask(asked).browser
    else:
        link = ask_graph(served, "demo", "I feel tired and dizzy. What can it be?").browser
    _open(page, link, served.connection)
    query = _filled(page, link)
    assert query.startswith("CALL custom.kgp.show([")
    frame = _run(page)
    expect(_nodes(frame)).to_have_count(len(_distinct(served, query)))
    if picture == "structure.png":
        expect(_nodes(frame).filter(has_text="Height").first).to_be_visible()
    _picture(page, picture, frame)


_DROP = """([content, name]) => {
    const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    const dropped = new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true});
    document.querySelector("[data-testid=activeEditor]").dispatchEvent(dropped);
}"""


@pytest.fixture(scope="module")
def saved(served: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that `browser-queries` writes, with the trace of a question for its example."""
    out = tmp_path_factory.mktemp("saved") / "queries.zip"
    names = ["--corpus", "demo", "--graph", "demo"]
    cli.main(["browser-queries", "--out", str(out), *names], standalone_mode=False)
    keep_one(served, "demo")
    return out


def _values(saved: Path) -> dict[str, str]:
    """Return the expression of each parameter in the file."""
    text = ZipFile(saved).read("kgp-neo4j/parameters.cypher").decode()
    return dict(re.findall(r"^:param (\w+) => (.*);$", text, re.M))


@pytest.mark.newest
def test_every_saved_query_finds_something(served: Database, saved: Path) -> None:
    values = {
        name: rows(served, f"RETURN {value} AS value")[0]["value"]
        for name, value in _values(saved).items()
    }
    found = {}
    with ZipFile(saved) as archive:
        for name in archive.namelist()[2:]:
            found[Path(name).stem] = len(rows(served, archive.read(name).decode(), **values))
    assert all(found.values())
    assert {f"kgp.{name}" for name in found} == {p.name for p in folder("procedures") if p.inputs}


def test_a_name_in_the_saved_parameters_is_quoted(served: Database, tmp_path: Path) -> None:
    name = 'it\'s \\ "my GRAPH" é;'
    out = tmp_path / "queries.zip"
    arguments = ["browser-queries", "--out", str(out), "--corpus", name, "--graph", name]
    cli.main(arguments, standalone_mode=False)
    values = _values(out)
    assert rows(served, f"RETURN {values['corpus']} AS value") == [{"value": name}]
    assert rows(served, f"RETURN {values['nodes']} AS value") == [{"value": []}]


@pytest.mark.browser
def test_browser_imports_the_queries(page: Page, served: Database, saved: Path) -> None:
    _open(page, served.connection.browser_address, served.connection)
    page.evaluate(_DROP, [base64.b64encode(saved.read_bytes()).decode(), saved.name])
    page.get_by_test_id("navigationFavorites").click()
    page.get_by_text("kgp-neo4j", exact=True).click()
    lines = page.locator("[data-testid=activeEditor] .view-lines")

    def run(name: str, begin: str) -> Locator:
        page.get_by_text(name).first.click()
        expect(lines).to_contain_text(begin.replace(" ", "\xa0"))
        return _run(page)

    first = ':param corpus => "demo"'
    done = run(first, first).get_by_title("Status: success")
    expect(done).to_have_count(len(_values(saved)) + 1)
    expect(_nodes(run("show", "// show"))).not_to_have_count(0)
    ranked = run("retrieve", "// retrieve")
    ranked.get_by_text("Table", exact=True).click()
    expect(ranked).to_contain_text("Lighthouse")


@pytest.mark.browser
def test_the_query_tool_imports_the_queries(page: Page, served: Database, saved: Path) -> None:
    """Aura's Query tool comes with Browser as its preview."""
    connection = served.connection
    page.goto(f"{connection.browser}/browser/preview/")
    page.locator("input[name=hostname]").fill(connection.uri.partition("//")[2])
    page.locator("input[name=password]").fill(connection.password)
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_role("button", name="Cypher panel").click()
    page.locator("input[type=file][accept*=zip]").set_input_files(saved)
    tree = page.get_by_role("treegrid")
    tree.get_by_role("row").hover()
    tree.get_by_role("button", name="Collapse").click()
    frames = page.get_by_test_id("frame")

    def run(name: str, count: int) -> Locator:
        tree.get_by_role("row").filter(has_text=f"{name}.cypher").last.hover()
        tree.get_by_role("button", name=f"Run query for {name}.cypher", exact=True).click()
        expect(frames).to_have_count(count)
        return frames.first

    script = run("parameters", 1)
    expect(script.get_by_test_id("success-icon")).to_have_count(len(_values(saved)) + 1)
    ranked = run("retrieve", 2)
    ranked.get_by_test_id("result-view-table").click()
    expect(ranked).to_contain_text("Lighthouse")
