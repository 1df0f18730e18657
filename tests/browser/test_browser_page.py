"""The page of the service, in a headless Chromium, by what a person does.

With KGP_NEO4J_PICTURES=docs/images the pictures of docs/serve.md are made anew.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import PATIENCE, keep_picture
from playwright.sync_api import Browser, Page, Route, expect
from serving import Serving, serving

from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.corpus.load.listing import corpora
from kgp_neo4j.demo import DOCUMENTS, QUESTION, TABLE_QUESTION
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import Tokens, add_token

_LOADED = "test page"

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def served(
    database: Database, demo_graph: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("page")
    with serving(Service(database, folder=folder)) as running:
        yield running
    if _LOADED in {each.name for each in corpora(database)}:
        delete_corpus(database, _LOADED)


def _page(chromium: Browser, address: str, **options: object) -> Page:
    """Open the page; a message on the console, as of a forbidden script, fails the test."""
    page = chromium.new_page(**{"viewport": {"width": 1280, "height": 860}, **options})
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.console = []  # type: ignore[attr-defined]
    page.on("console", lambda told: page.console.append(told.text))  # type: ignore[attr-defined]
    page.goto(address)
    return page


def _picture(page: Page, name: str) -> None:
    """Keep a picture in which the corpus of this test run has the demo's name."""
    page.evaluate("document.querySelectorAll('option').forEach(o => { o.textContent = 'demo'; })")
    keep_picture(page, name)


def _ask(page: Page, source: str, question: str) -> None:
    page.get_by_label("Corpus or knowledge graph").select_option(source)
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")


def test_a_pdf_is_loaded_asked_and_a_citation_followed_to_its_page(
    chromium: Browser, served: Serving
) -> None:
    page = _page(chromium, served.address)
    page.get_by_role("button", name="Documents").click()
    page.get_by_label("Corpus", exact=True).fill(_LOADED)
    page.get_by_label("Files").set_input_files(DOCUMENTS / "annual-report-1889.pdf")
    page.get_by_role("button", name="Load").click()
    expect(page.locator("#uploads")).to_contain_text("is loaded: 3 passages, 3 pages, 2 tables")
    # Another corpus may have a document of that title.
    chosen = page.get_by_label("Corpus or knowledge graph")
    expect(chosen).to_have_value(f"corpus {_LOADED}")
    expect(page.locator("#documents")).to_contain_text("Annual Report 1889")
    _picture(page, "serve-documents.png")

    page.get_by_role("button", name="Questions").click()
    _ask(page, f"corpus {_LOADED}", TABLE_QUESTION)
    expect(page.locator("#answer")).to_contain_text("Ardfin")
    page.locator("#answer table.cells").get_by_role(
        "button", name="Annual Report 1889"
    ).first.click()
    reader = page.get_by_role("dialog")
    expect(reader.get_by_role("heading", name="Page 2")).to_be_visible()
    here = reader.locator(".here")
    expect(here).to_be_in_viewport()
    expect(here.get_by_role("cell", name="Ardfin")).to_be_visible()
    page.keyboard.press("Escape")
    expect(reader).to_be_hidden()

    _ask(page, f"corpus {_LOADED}", "When was the report laid before the members?")
    page.locator("#answer").get_by_role("button", name="Passage").first.click()
    expect(page.locator("#passages > li:focus mark.word")).to_have_text("3 February 1890")
    page.locator("#passages > li:focus").get_by_role("button").click()
    expect(reader.locator(".here mark.word")).to_be_in_viewport()
    expect(reader.get_by_role("heading", name="Page 1")).to_be_visible()
    _picture(page, "serve-document.png")
    assert page.console == []  # type: ignore[attr-defined]


def test_a_corpus_typed_before_the_list_is_there_stays(
    chromium: Browser, served: Serving, demo_graph: str
) -> None:
    page = chromium.new_page()
    held: list[Route] = []
    page.route("**/corpora", lambda route: held.append(route))
    page.goto(served.address)
    page.get_by_role("button", name="Documents").click()
    into = page.get_by_label("Corpus", exact=True)
    into.fill("typed early")
    held.pop().continue_()
    expect(page.get_by_label("Corpus or knowledge graph")).not_to_have_value("")
    expect(into).to_have_value("typed early")
    # A name that the page put there follows what is chosen.
    into.fill("")
    page.get_by_label("Corpus or knowledge graph").select_option(f"graph {demo_graph}")
    page.get_by_label("Corpus or knowledge graph").select_option(f"corpus {demo_graph}")
    expect(into).to_have_value(demo_graph)


def _until(page: Page, condition: str) -> None:
    """Wait for a condition; Playwright's own waiting may need `eval`, which the page forbids."""
    for _ in range(100):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    raise AssertionError(condition)


def test_the_traversal_appears_and_can_be_moved_and_opened(
    chromium: Browser, served: Serving, demo_graph: str
) -> None:
    page = _page(chromium, served.address)
    _ask(page, f"corpus {demo_graph}", QUESTION)
    expect(page.locator("#answer")).to_contain_text("grandmother")
    # The hops are drawn one after another, and the way to the answer at the end.
    drawn = "document.getElementById('graph').kgpGraph"
    _until(page, f"{drawn}.edges('.way').length >= 2")
    assert page.evaluate(f"{drawn}.nodes('[hop = 0]').length") > 0
    assert page.evaluate(f"{drawn}.nodes('[hop = 1]').length") > 0
    page.wait_for_timeout(400)  # until the picture has come to rest
    _picture(page, "serve.png")

    def place() -> dict[str, float]:
        found: dict[str, float] = page.evaluate(f"{drawn}.nodes('.cited').renderedPosition()")
        return found

    box = page.locator("#graph").bounding_box()
    assert box is not None
    before = place()
    page.mouse.move(box["x"] + before["x"], box["y"] + before["y"])
    page.mouse.down()
    page.mouse.move(box["x"] + before["x"] + 60, box["y"] + before["y"] + 30, steps=4)
    page.mouse.up()
    assert abs(place()["x"] - before["x"] - 60) < 5
    page.mouse.click(box["x"] + place()["x"], box["y"] + place()["y"])
    marked = page.locator("#passages > li:focus mark")
    expect(marked.filter(has_text="grandmother")).to_be_visible()
    zoomed = page.evaluate(f"{drawn}.zoom()")
    page.get_by_role("button", name="Nearer").click()
    assert page.evaluate(f"{drawn}.zoom()") > zoomed

    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    _ask(page, f"graph {demo_graph}", "I feel tired and dizzy. What can it be?")
    expect(page.locator("#mindmap")).to_contain_text("Fatigue")
    _until(page, f"{drawn}.nodes('.asked-for').length == 2")
    page.wait_for_timeout(400)
    _picture(page, "serve-mindmap.png")
    assert page.console == []  # type: ignore[attr-defined]


def test_it_works_on_a_phone_and_by_keyboard_alone(
    chromium: Browser, served: Serving, demo_graph: str
) -> None:
    page = _page(
        chromium,
        served.address,
        viewport={"width": 380, "height": 760},
        color_scheme="dark",
        reduced_motion="reduce",
    )
    page.get_by_label("Corpus or knowledge graph").select_option(f"corpus {demo_graph}")
    page.get_by_label("Question", exact=True).focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Answered in")
    for _ in range(4):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "cite":
            break
    page.keyboard.press("Enter")
    marked = page.locator("#passages > li:focus mark")
    expect(marked.filter(has_text="grandmother")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    unnamed = page.locator("button:visible, input:visible, select:visible, textarea:visible")
    assert all(
        each.evaluate("e => !!(e.ariaLabel || e.textContent.trim() || e.labels?.length)")
        for each in unnamed.all()
    )
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(600)
    _picture(page, "serve-phone.png")


def test_a_token_is_asked_for_and_texts_of_documents_stay_texts(
    chromium: Browser, database: Database, corpus: str, tmp_path: Path
) -> None:
    from kgp_neo4j.corpus.connect.graphs import connect
    from kgp_neo4j.corpus.load.loading import load

    bad = (
        '<img src=x onerror="document.title=1"><script>document.title=2</script> [a](javascript:b)'
    )
    (tmp_path / "mill.md").write_text(
        f"# The mill {bad}\n\nThe mill was built by Ada Moor. {bad}\n"
    )
    load(database, [tmp_path / "mill.md"], corpus)
    connect(database, corpus)
    file = tmp_path / "tokens.json"
    token = add_token(file, "ann", corpora=[corpus])
    service = Service(database, folder=tmp_path, tokens=Tokens(file))
    with serving(service) as running:
        page = _page(chromium, running.address)
        page.get_by_label("This service asks for a token.").fill(token)
        page.get_by_role("button", name="Use it").click()
        _ask(page, f"corpus {corpus}", "Who built the mill?")
        expect(page.locator("#passages")).to_contain_text("onerror")
        page.locator("#passages button").first.click()
        expect(page.locator("#reader-text")).to_contain_text("<script>")
        assert page.title() == "kgp-neo4j"
        assert page.locator("main img, dialog img, main a[href^=javascript]").count() == 0
        page.close()
