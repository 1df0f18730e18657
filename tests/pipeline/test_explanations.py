"""The page, the picture and the diagram of an answer: right, whole, and safe to open."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from asking import ask
from bs4 import BeautifulSoup, Tag
from graphs import rows

from kgp_neo4j import Answer, Database, Passage, ReasoningPath
from kgp_neo4j.corpus.answer.traces import browser_lines
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.demo import QUESTION, SETTINGS
from kgp_neo4j.show.pages import answer_page
from kgp_neo4j.show.trees import path_tree, paths_mermaid
from kgp_neo4j.text.safe import printable
from kgp_neo4j.types.corpus import Reading, Span, Statement, Step, SupportingSentence, Usage
from kgp_neo4j.types.tables import Citation, ShownQuery, StructuralAnswer, TypeDecision

_TEXT = "The bridge is long. Ada Stone designed it in 1901. It replaced a ferry. Nobody swims."
_HOSTILE = (
    "</title><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]></style><svg onload=alert(1)>",
    "--> <!-- {{7*7}} ${x} %%{init: {}}%%",
    'end"] --> x["`**b**`"]; click x href "javascript:alert(1)"',
    "\u202egnp.exe\u2066 \x00\x08\x1b[31m\u2028 \ud800 \U000e0041",
    "W" * 5000,
    "桥是谁设计的？" * 400,
    "1. item - [link](http://example.com) <http://example.com>",
)


def _passage(n: int, text: str = _TEXT, **more: Any) -> Passage:
    values: dict[str, Any] = {"title": f"Title {n}", "source": f"/home/user/{n}.txt", **more}
    return Passage(
        id=f"{n:032x}", document=f"d{n}", position=n, start=10, end=10 + len(text), text=text,
        score=1 - n / 100, **values,
    )  # fmt: skip


def _path(*numbers: int, edge: str = "SHARES_ENTITY", reason: str = "Ada Stone") -> ReasoningPath:
    steps = [Step(f"{numbers[0]:032x}", "seed", 0.9, reason="words")]
    steps += [Step(f"{n:032x}", edge, 0.5, 0.1, reason) for n in numbers[1:]]
    return ReasoningPath(tuple(steps))


def _answer(*paths: ReasoningPath, **more: Any) -> Answer:
    numbers = [int(path.last, 16) for path in paths]
    values: dict[str, Any] = {
        "question": "Who designed the bridge?",
        "text": "Ada Stone",
        "passages": tuple(_passage(n) for n in numbers),
        "sentences": (),
        **more,
    }
    return Answer(corpus="c", agent="tfidf", paths=paths, seconds=0.1, **values)


def _read(answer: Answer, n: int = 1) -> Answer:
    """Return an answer that the reader found in a passage, within a supporting sentence."""
    at = _TEXT.index("Ada Stone")
    passage = f"{n:032x}"
    sentence = _TEXT.index("Ada"), _TEXT.index("It replaced")
    return replace(
        answer,
        text="Ada Stone",
        stated=True,
        reading=Reading("Ada Stone", "span", 0.83, (Span(passage, at, at + 9),)),
        sentences=(
            SupportingSentence(_TEXT[slice(*sentence)].strip(), passage, *sentence, score=0.7),
        ),
    )


def _soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


def test_the_words_are_marked_where_they_stand() -> None:
    soup = _soup(answer_page(_read(_answer(_path(1), _path(1, 2)))))
    (words,) = soup.select("mark.a")
    (sentence,) = soup.select("mark.s")
    assert words.text == "Ada Stone"
    assert sentence.text.strip() == "Ada Stone designed it in 1901."
    assert words.parent is sentence
    (text,) = soup.select("div.text")
    assert text.text == _TEXT
    assert "by the offline reader, confidence 0.83 · corpus" in soup.text


def test_yes_and_no_mark_the_sentence_that_says_so() -> None:
    made = _answer(_path(1), text="yes")
    made = replace(made, reading=Reading("yes", "yes", 0.6, (Span(f"{1:032x}", 20, 50),)))
    soup = _soup(answer_page(made))
    assert [m.text for m in soup.select("mark.s")] == [_TEXT[20:50]]
    assert soup.select("mark.a") == []


def test_a_models_words_are_found_in_the_passages_it_cites() -> None:
    one = f"{1:032x}"
    said = Statement("ada  stone.", (one,), True, 0.9)
    made = _answer(_path(1), _path(2), text="ada stone. [1]", statements=(said,))
    soup = _soup(answer_page(made))
    assert [m.text for m in soup.select("mark.a")] == ["Ada Stone"]
    part = replace(made, statements=(Statement("Ada Sto", (one,), True),))
    assert _soup(answer_page(part)).select("mark.a") == []  # no part of a word
    han = _passage(1, "灯塔由林工程师设计。")
    said = Statement("林工程师", (one,), True)
    made = _answer(_path(1), passages=(han,), statements=(said,), question="灯塔是谁设计的？")
    assert [m.text for m in _soup(answer_page(made)).select("mark.a")] == ["林工程师"]


def test_a_long_passage_is_shown_round_what_is_marked() -> None:
    filler = "Many words that say nothing. " * 300
    text = f"{filler}Ada Stone designed it. {filler}"
    at = text.index("Ada Stone")
    made = _answer(_path(1), passages=(_passage(1, text),))
    made = replace(made, reading=Reading("x", "span", 0.5, (Span(f"{1:032x}", at, at + 9),)))
    (shown,) = _soup(answer_page(made)).select("div.text")
    assert [m.text for m in shown.select("mark.a")] == ["Ada Stone"]
    assert len(shown.text) < 400
    assert shown.text.startswith(" … ")
    assert shown.text.endswith(" … ")
    inner = shown.text.removeprefix(" … ").removesuffix(" … ")
    assert inner in text
    assert set(inner.split()) <= set(text.split())  # no word is cut
    assert len(answer_page(made)) < 8000


def test_statements_are_cited_and_marked() -> None:
    one, two = f"{1:032x}", f"{2:032x}"
    made = _answer(
        _path(1),
        _path(1, 2),
        statements=(
            Statement("She designed it.", (one, two), True, 0.9),
            Statement("She could fly.", (), False, 0.0, "no citation"),
            Statement("It fell.", ("gone",), False),
        ),
        notes=("3 passages were left out of the prompt.",),
        usage=Usage("a model", 1, 0, 800, 40),
    )
    soup = _soup(answer_page(made))
    assert [p.text for p in soup.select("p.not")] == [
        "She could fly. not carried: no citation",
        "It fell. [?] not carried: the passages cited do not say so",
    ]
    links = [a["href"] for p in soup.select("p") for a in p.select("a")]
    assert links == ["#e1", "#e2"]
    assert all(soup.select(f"tr{link}") for link in links)
    assert "3 passages were left out" in soup.select_one("p.notice").text  # type: ignore[union-attr]
    assert "1 call, 800 + 40 tokens" in soup.text


def test_the_evidence_is_listed_whole() -> None:
    made = _answer(_path(1), *(_path(1, n) for n in range(2, 31)))
    made = replace(made, passages=(replace(made.passages[0], page=7), *made.passages[1:]))
    listed = _soup(answer_page(made)).select("tr[id]")
    assert len(listed) == 30
    first = listed[0].get_text("|")
    assert re.sub(r"\W+", " ", first).startswith("1 Title 1 7 2 10 95 0 99 found by words")
    assert "from [1]: both mention Ada Stone" in listed[4].text
    assert "/home/user" not in answer_page(made)


def test_structure_is_shown_with_its_cells_and_queries() -> None:
    citation = Citation("d", "Report <1>", 2, "ii", "t", "Table 1", 3, "Ardfin", 1, "Light", "41 m")
    query = ShownQuery("structure.rows", "// structure.rows()\nRETURN $x AS x", {"x": '"<b>'})
    structural = StructuralAnswer("41 m", citations=(citation,), queries=(query,), reading="so")
    made = _answer(text="41 m", structural=structural, type=TypeDecision("structural"), passages=())
    soup = _soup(answer_page(made))
    cells = [cell.text for cell in soup.select("table td")]
    assert cells == ["Report <1>", "2 (printed ii)", "Table 1", "3 Ardfin", "1 Light", "41 m"]
    assert ':param x => "\\"<b>"' in soup.text
    unsure = replace(structural, sure=False, text="", doubt="two tables", markdown="| a |\n|---|")
    soup = _soup(answer_page(replace(made, text="", structural=unsure)))
    assert "No sure answer" in soup.text
    assert "two tables" in soup.text
    assert "| a |" in soup.text


def test_the_reader_does_not_speak_for_pages_and_tables() -> None:
    structural = StructuralAnswer("41 m", citations=(Citation("d", "Report"),))
    both = {"structural": structural, "type": TypeDecision("both")}
    made = replace(_read(_answer(_path(1))), text="41 m", **both)
    soup = _soup(answer_page(made))
    assert [p.text for p in soup.select("p.said")] == ["41 m"]
    assert soup.select("mark.a") == []
    assert soup.select(".tree .cited, .tree .answer") == []
    unsure = replace(made, text="Ada Stone", structural=replace(structural, sure=False))
    assert [m.text for m in _soup(answer_page(unsure)).select("mark.a")] == ["Ada Stone"]


@pytest.mark.parametrize("text", _HOSTILE, ids=range(len(_HOSTILE)))
def test_nothing_in_a_page_runs_or_is_fetched(text: str) -> None:
    one = f"{1:032x}"
    passages = (_passage(1, text, title=text, source=text), _passage(2, title=text))
    made = _answer(
        _path(1, reason=text),
        _path(1, 2, edge=text[:50], reason=text),
        passages=passages,
        question=text,
        text=text,
        statements=(Statement(text, (one, text), False, 0.0, text),),
        notes=(text,),
        usage=Usage(text),
        browser="javascript:alert(1)",
        trace=text,
        structural=StructuralAnswer(
            text, doubt=text, markdown=text, citations=(Citation("d", text, text=text),)
        ),
        queries=(ShownQuery(text, f"// x\n// {text}\nRETURN 1", {"x": text}),),
    )
    made = replace(made, reading=Reading(text, "span", 0.5, (Span(one, 0, 5),)))
    html = answer_page(made)
    html.encode()
    soup = _soup(html)
    assert soup.select("script, img, iframe, object, embed, link, form, base") == []
    tags = [tag for tag in soup.find_all(True) if isinstance(tag, Tag)]
    assert not [key for tag in tags for key in tag.attrs if key.startswith("on")]
    assert {a["href"][:2] for a in soup.select("a")} <= {"#e"}
    assert not [tag for tag in tags if "src" in tag.attrs or "url(" in str(tag.get("style"))]
    policy = soup.select_one("meta[http-equiv=Content-Security-Policy]")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html)
    heading = soup.select_one("h1")
    assert heading.text == printable(text)


def test_the_link_into_browser_is_the_only_address() -> None:
    link = "http://127.0.0.1:7474/browser/?cmd=edit&arg=CALL%20x%28%27a%27%29"
    html = answer_page(replace(_read(_answer(_path(1))), browser=link))
    addresses = set(re.findall(r"https?://[^\"'<\s]+", html))
    assert addresses == {link.replace("&", "&amp;")}


def _ways(html: str) -> list[tuple[str, str, str]]:
    """Return why, title and kinds of each box of the tree in a page."""
    boxes = _soup(html).select(".tree .box")
    return [
        (
            "".join(each.text for each in box.select(".why")),
            "".join(" ".join(each.text.split()) for each in box.select(".title")),
            " ".join(box.parent.get_attribute_list("class") if box.parent else []).strip(),
        )
        for box in boxes
    ]


def test_the_tree_says_in_words_why_each_passage_was_found() -> None:
    two = _path(1, 2)
    made = _answer(_path(1), two, two.then(Step(f"{3:032x}", "NEXT", 0.5, 0.1)))
    assert _ways(answer_page(_read(made, n=2))) == [
        ("", "Who designed the bridge?", "question"),
        ("found by words", "[1] Title 1", "way"),
        ("both mention Ada Stone", "[2] Title 2", "way cited"),
        ("says", "Ada Stone", "way answer"),
        ("next in the document", "[3] Title 3", ""),
    ]


def test_what_did_not_lead_to_the_answer_is_folded_into_counts() -> None:
    made = _read(_answer(*(_path(n) for n in range(1, 31))), n=29)
    soup = _soup(answer_page(made))
    (folded,) = soup.select(".tree details")
    assert folded.select("summary")[0].text == "26 more"
    assert len(folded.select(".box")) == 26
    shown = [box.text for box in soup.select(".tree .box") if box not in folded.select(".box")]
    assert [text for text in shown if "Title 29" in text]
    assert path_tree(replace(made, passages=())) is None


def test_a_passage_that_two_paths_pass_stands_there_once() -> None:
    shown = _ways(answer_page(_answer(_path(1, 2), _path(1, 3))))
    assert [title for _, title, _ in shown if "Title 1" in title or "way" in title] == [
        "A passage on the way"
    ]


_LABEL = r'"(?:[^"#]|#\d+;)*"'
_LINES = re.compile(
    rf"flowchart LR|  q\(\[{_LABEL}\]\)|  n\d+\[{_LABEL}\](?::::marked)?|  a\[/{_LABEL}/\]:::answer"
    rf"|  (?:q|n\d+) -->\|{_LABEL}\| n\d+|  (?:q|n\d+) -\.-> a|  classDef \w+ [\w:#,]+"
    r"|  %% \d+ further passages are not drawn"
)


def _mermaid(answer: Answer) -> list[str]:
    """Return the lines of a diagram, each of which must be one that Mermaid reads."""
    lines = paths_mermaid(answer).splitlines()
    assert not [line for line in lines if not _LINES.fullmatch(line)]
    nodes = [line.split("[")[0].split("(")[0].strip() for line in lines if "[" in line]
    for line in lines:
        if "-->" in line or "-.->" in line:
            ends = re.sub(_LABEL, "", line).replace("|", "").replace("-.->", "-->").split("-->")
            assert {end.strip() for end in ends} <= {n for n in nodes if n}, line
    return lines


def test_the_diagram() -> None:
    lines = _mermaid(_read(_answer(_path(1), _path(1, 2))))
    assert lines == [
        "flowchart LR",
        '  q(["Who designed the bridge#63;"])',
        '  n1["#91;1#93; Title 1 (0.90)"]:::marked',
        '  n2["#91;2#93; Title 2 (0.60)"]',
        '  q -->|"found by words"| n1',
        '  n1 -->|"both mention Ada Stone"| n2',
        '  a[/"Ada Stone"/]:::answer',
        "  n1 -.-> a",
        "  classDef answer fill:#e8f5e9,stroke:#2e7d32",
        "  classDef marked fill:#fff59d,stroke:#b26a00",
    ]


@pytest.mark.parametrize("text", [*_HOSTILE, "end", "", "a\nb", "```", "- a", "+", "3) b", "@{x}"])
def test_a_diagram_of_any_text_is_read(text: str) -> None:
    made = _answer(
        _path(1, reason=text), _path(1, 2, edge=text or "NEXT", reason=text),
        question=text, text=text, passages=(_passage(1, title=text), _passage(2, title=text)),
    )  # fmt: skip
    lines = _mermaid(made)
    assert max(map(len, lines)) < 2000
    assert "```" not in "".join(lines)
    labels = re.findall(_LABEL, "\n".join(lines))
    assert not [label for label in labels if re.match(r'"(\d+[.)]|[-+*])(\s|"$)', label)]


@pytest.fixture(scope="module")
def answer(database: Database, demo_corpus: str) -> Answer:
    retriever = PassageRetriever(database, demo_corpus, settings=SETTINGS)
    return ask(database, demo_corpus, QUESTION, retriever)


def test_the_queries_show_the_evidence_again(database: Database, answer: Answer) -> None:
    made = {query.name: query for query in answer.queries}
    assert list(made) == ["browser.show", "traverse.pathEdges", "browser.retrieve"]
    best = [step.passage for path in answer.paths[:4] for step in path.steps]
    evidence = database.read("browser/show", **made["browser.show"].parameters)
    assert {n["id"] for row in evidence for n in (row["node"], row["neighbour"])} >= set(best)
    joined = database.read("traverse/path_edges", **made["traverse.pathEdges"].parameters)
    stepped = {
        (a.passage, b.passage, b.edge, b.reason)
        for path in answer.paths[:4]
        for a, b in pairwise(path.steps)
    }
    assert {tuple(row.values()) for row in joined} == stepped
    found = database.read("browser/retrieve", **made["browser.retrieve"].parameters)
    assert len(found) == len(answer.passages) == SETTINGS.budget
    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    assert found[0]["passage"]["corpus"] == answer.corpus


def test_the_queries_run_as_they_are_printed(database: Database, answer: Answer) -> None:
    """Browser's parameters are expressions: each is what the query was given."""
    odd = {"text": "a \"b\" 'c' \\ \n é 鸟 {$x}", "list": [1, 2.5, True, None, {"k": ["v"]}]}
    for query in (*answer.queries, ShownQuery("x", "RETURN 1", odd)):
        lines = list(browser_lines(query))
        for name, value in query.parameters.items():
            (line,) = [x for x in lines if x.startswith(f":param {name} => ")]
            literal = line.removeprefix(f":param {name} => ")
            assert rows(database, f"RETURN {literal} AS v") == [{"v": value}]
        shown = "\n".join(x for x in lines if not x.startswith(":param"))
        assert rows(database, shown, **query.parameters)
