"""The page of the service, in a headless Chromium, by what a person does.

With KGP_NEO4J_PICTURES=docs/images the pictures of docs/serve.md are made anew.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from chromium import PATIENCE, keep_picture
from graphs import write_file
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect
from serving import Serving, serving

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import corpora, delete_corpus
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
    console: list[str] = []
    page.console = console  # type: ignore[attr-defined]

    def keep(told: ConsoleMessage) -> None:
        # The corpus that stands first may be another test's, which deletes it just then.
        url = told.location["url"]
        if "/documents?" not in url or urlencode({"corpus": _LOADED}) in url:
            console.append(told.text)

    page.on("console", keep)
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


def _check_access(page: Page) -> None:
    """Fail where axe-core finds that a rule of accessibility is broken."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_folder_is_followed(chromium: Browser, served: Serving, tmp_path: Path) -> None:
    page = _page(chromium, served.address)
    folder = tmp_path / "notes"
    (folder / "old").mkdir(parents=True)
    for name, text in {
        "mill.md": "The mill grinds oats.",
        "old/quay.md": "The quay is wet.",
    }.items():
        (folder / name).write_text(f"# {text}\n\n{text}")
    page.get_by_role("button", name="Documents").click()

    def load() -> None:
        page.get_by_label("Corpus", exact=True).fill(_LOADED)
        page.get_by_label("or a folder").set_input_files(folder)
        page.get_by_role("button", name="Load").click()
        expect(page.get_by_text("Loading is over.")).to_be_visible()

    load()
    expect(page.locator("#documents")).to_contain_text("quay.md")
    (folder / "old" / "quay.md").unlink()
    (folder / "old" / "inn.md").write_text("# Inn\n\nThe inn has six beds.")
    load()
    expect(page.locator("#uploads")).to_contain_text("notes has no longer: notes/old/quay.md")
    _check_access(page)
    page.get_by_role("button", name="Remove from the corpus").click()
    expect(page.locator("#uploads")).to_contain_text("notes: removed notes/old/quay.md")
    expect(page.locator("#documents")).not_to_contain_text("quay.md")


def test_a_pdf_is_loaded_and_citations_lead_to_pages(chromium: Browser, served: Serving) -> None:
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
    expect(page.locator(".reply")).to_contain_text("Ardfin")
    cells = page.locator(".reply table.cells")
    cells.get_by_role("button", name="Annual Report 1889").first.click()
    reader = page.get_by_role("dialog")
    expect(reader.locator("#reader-page")).to_have_text("Page 2 of 3")
    expect(reader.get_by_role("img", name="Page 2")).to_be_visible()
    expect(reader.locator("rect.words").first).to_be_in_viewport()
    reader.get_by_label("How it was read").check()
    expect(reader.locator("rect.table")).to_have_count(1)
    expect(reader.locator("rect.heading")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(reader.locator("#reader-page")).to_have_text("Page 3 of 3")
    page.keyboard.press("Escape")
    expect(reader).to_be_hidden()

    _ask(page, f"corpus {_LOADED}", "When was the report laid before the members?")
    page.locator(".reply").get_by_role("button", name="Passage").first.click()
    expect(page.locator("ol.passages > li:focus mark.word")).to_have_text("3 February 1890")
    page.locator("ol.passages > li:focus").get_by_role("button").click()
    expect(reader.get_by_role("img", name="Page 1")).to_be_visible()
    expect(reader.locator("rect.words")).to_have_count(2)
    _check_access(page)
    _picture(page, "serve-document.png")
    reader.get_by_role("button", name="Text").click()
    expect(reader.locator(".here mark.word")).to_be_in_viewport()
    expect(reader.get_by_role("heading", name="Page 1")).to_be_visible()
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


def test_the_tree_says_how_it_was_found_and_leads_to_the_passages(
    chromium: Browser, served: Serving, demo_graph: str
) -> None:
    page = _page(chromium, served.address)
    _check_access(page)
    _ask(page, f"corpus {demo_graph}", QUESTION)
    expect(page.locator(".reply")).to_contain_text("grandmother")
    way = page.locator(".tree .way > .box")
    expect(way.first).to_contain_text("found by")
    expect(way.nth(1)).to_contain_text("both mention")
    _picture(page, "serve.png")
    _check_access(page)
    boxes = page.locator(".tree .box:visible")
    before = boxes.count()
    page.locator(".tree summary").first.click()
    assert boxes.count() > before
    page.locator(".tree .cited > .box").get_by_role("button").click()
    marked = page.locator("ol.passages > li:focus mark")
    expect(marked.filter(has_text="grandmother")).to_be_visible()

    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    _check_access(page)
    _ask(page, f"graph {demo_graph}", "I feel tired and dizzy. What can it be?")
    expect(page.locator(".tree .asked > .box")).to_have_count(2)
    expect(page.locator(".tree .asked > .box").first).to_contain_text("Fatigue")
    _check_access(page)
    _picture(page, "serve-mindmap.png")
    assert page.console == []  # type: ignore[attr-defined]


def test_past_questions_are_found_shown_asked_again_and_removed(
    chromium: Browser, served: Serving, demo_graph: str
) -> None:
    page = _page(chromium, served.address)
    _ask(page, f"corpus {demo_graph}", "Who was the captain of the Corriander?")
    expect(page.locator(".reply")).to_contain_text("Peder Loam")
    page.get_by_role("button", name="History").click()
    page.get_by_label("With the words").fill("captain loam")
    kept = page.locator("#past li")
    expect(kept).to_have_count(1)
    _check_access(page)
    kept.get_by_role("button", name="Who was the captain", exact=False).first.click()
    expect(page.get_by_role("status")).to_have_text("As it was answered then.")
    expect(page.locator(".reply")).to_contain_text("Peder Loam")
    page.get_by_role("button", name="History").click()
    kept.get_by_role("button", name="Ask again").click()
    expect(page.get_by_role("status")).to_contain_text("Answered in")
    page.get_by_role("button", name="History").click()
    expect(kept).to_have_count(2)
    kept.first.get_by_role("button", name="Remove").click()
    expect(kept).to_have_count(1)
    kept.first.get_by_role("button", name="Remove").click()
    expect(page.locator("#past")).to_contain_text("No past question has these words.")


def test_two_sources_are_asked_side_by_side_and_an_answer_is_saved(
    chromium: Browser, served: Serving, demo_graph: str
) -> None:
    page = _page(chromium, served.address)
    page.get_by_label("Beside it").select_option(f"graph {demo_graph}")
    _ask(page, f"corpus {demo_graph}", QUESTION)
    expect(page.locator(".pane")).to_have_count(2)
    answers = page.locator(".pane .reply")
    expect(answers.first).to_contain_text("grandmother")
    expect(answers.last).not_to_be_empty()
    saved = {}
    for kind in ("Markdown", "JSON", "HTML"):
        with page.expect_download() as told:
            page.locator(".pane").first.get_by_role("button", name=kind).click()
        saved[kind] = told.value.path().read_text(encoding="utf-8")
    assert "grandmother" in json.loads(saved["JSON"])["text"]
    cited = re.search(r"grandmother.*\[\^(\d+)\]", saved["Markdown"])
    assert f"[^{cited[1]}]: " in saved["Markdown"]
    assert "both mention" in saved["HTML"]
    assert "<script" not in saved["HTML"]
    assert "default-src 'none'" in saved["HTML"]


def test_a_phone_and_a_keyboard_alone(chromium: Browser, served: Serving, demo_graph: str) -> None:
    phone = {"viewport": {"width": 380, "height": 760}, "color_scheme": "dark"}
    page = _page(chromium, served.address, **phone, reduced_motion="reduce")
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
    marked = page.locator("ol.passages > li:focus mark")
    expect(marked.filter(has_text="grandmother")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    _check_access(page)
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(600)
    _picture(page, "serve-phone.png")


@pytest.mark.parametrize("width", [380, 1280])
def test_long_german_words_and_korean_lines_stay_within_the_page(
    chromium: Browser, database: Database, corpus: str, tmp_path: Path, width: int
) -> None:
    texts = {
        f"{'Donaudampfschifffahrts' * 3}gesellschaftskapitän": "wurde von Ada Moor ernannt.",
        "하천수운노선관리위원회" * 6: "이 위원회는 1912년 부산에서 설립되었다. " * 9,
    }
    files = [tmp_path / f"{number}.md" for number in range(len(texts))]
    for file, (title, text) in zip(files, texts.items(), strict=True):
        file.write_text(f"# {title}\n\n{title} {text}\n", encoding="utf-8")
    load(database, files, corpus)
    connect(database, corpus)
    with serving(Service(database, folder=tmp_path)) as running:
        page = _page(chromium, running.address, viewport={"width": width, "height": 760})
        for question in (
            f"Wer ernannte den {next(iter(texts))}?",
            "위원회는 어디에서 설립되었습니까?",
        ):
            _ask(page, f"corpus {corpus}", question)
            expect(page.get_by_role("status")).to_contain_text("Answered in")
            expect(page.locator(".tree .box").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") == width
        for view, lines in (("History", "#past li"), ("Documents", "#documents tbody tr")):
            page.get_by_role("button", name=view).click()
            expect(page.locator(lines).nth(1)).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") == width
        page.locator("#documents tbody button").first.click()
        expect(page.locator("#reader-text")).to_contain_text("Ada Moor")
        assert page.evaluate("document.querySelector('dialog').scrollWidth") <= width
        assert page.console == []  # type: ignore[attr-defined]
        page.close()


def test_a_token_is_asked_for_and_texts_of_documents_stay_texts(
    chromium: Browser, database: Database, corpus: str, tmp_path: Path
) -> None:
    bad = (
        '<img src=x onerror="document.title=1"><script>document.title=2</script> [a](javascript:b)'
    )
    text = f"# The mill {bad}\n\nThe mill was built by Ada Moor. {bad}\n"
    load(database, [write_file(tmp_path / "mill.md", text)], corpus)
    connect(database, corpus)
    file = tmp_path / "tokens.json"
    token = add_token(file, "ann", corpora=[corpus])
    service = Service(database, folder=tmp_path, tokens=Tokens(file))
    with serving(service) as running:
        page = _page(chromium, running.address)
        page.get_by_label("This service asks for a token.").fill(token)
        page.get_by_role("button", name="Use it").click()
        _ask(page, f"corpus {corpus}", "Who built the mill?")
        expect(page.locator("ol.passages")).to_contain_text("onerror")
        page.locator("ol.passages button").first.click()
        expect(page.locator("#reader-text")).to_contain_text("<script>")
        assert page.title() == "kgp-neo4j"
        assert page.locator("main img, dialog img, main a[href^=javascript]").count() == 0
        page.close()
