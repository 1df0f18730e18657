"""Files of every kind become documents, and what cannot be read is said with its place."""

import gzip
import json
import os
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from graphs import write_file

from kgp_neo4j.corpus.load.contents import markdown
from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.corpus.load.rows import outline, placed_passages
from kgp_neo4j.environment.files import find
from kgp_neo4j.environment.kinds import extension, unread_reason
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourcePage, SourceSection

_EXPLAINED = 'Expected are {"title", "text"} records'


def _read(path: Path) -> list[SourceDocument]:
    """Return the documents of a file that has no fault."""
    made = []
    for reading in read(path):
        assert isinstance(reading, SourceDocument), reading
        made.append(reading)
    return made


def _errors(path: Path) -> list[str]:
    return [str(r) for r in read(path) if isinstance(r, InputError)]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_text_markdown_and_html(tmp_path: Path, ending: str) -> None:
    text = "First.\r\n\r\nSe\u00adcond 👍🏽 \u06cc\u200c\u062e o\ufb03ce 🏴\U000e007f☕\ufe0f.\n"
    raw = text.replace("Se", "\x00S\u200be\x07\U000e0041").replace("\ufe0f", "\ufe0f\ufe01\ufe0e")
    [found] = _read(write_file(tmp_path / f"my_annual-report.txt{ending}", raw))
    shown = text.replace("\u00ad", "").replace("\ufb03", "ffi")
    assert (found.title, found.text, found.whole) == ("my annual-report", shown, False)
    markdown = "```\n# not this\n```\n\n# The `real` *title* #\n\nBody\n"
    found = _read(write_file(tmp_path / f"a.md{ending}", markdown))
    assert [(d.title, d.text) for d in found] == [("The real title", markdown)]
    found = _read(write_file(tmp_path / f"under.md{ending}", "Heading\n=======\nBody"))
    assert found[0].title == "Heading"
    page = (
        "<html><head><title>A &amp; B</title><style>p{}</style></head><body><h1>Hi</h1><p>One "
        "<b>two</b><sup><a>1</a></sup>\n three<br>4<sup>th</sup><ul><li>a<li>10<sup>6</sup></ul>"
        "<script>x</script><table><tr><td>1<td>2</tr></table><pre> x\n  y</pre><!--z-->&lt;end&gt;"
    )
    found = _read(write_file(tmp_path / f"page.html{ending}", page))
    text = "Hi\n\nOne two[1] three\n4th\n\na\n10^6\n\n1\t2\n\n x\n  y\n\n<end>"
    assert [(d.title, d.text) for d in found] == [("Hi", text)]
    assert found[0].source == (tmp_path / f"page.html{ending}").resolve().as_posix()


_TABS = "<style>.tab, #x > i{display:none} .tab.on{display:block}</style>"


@pytest.mark.parametrize(
    ("page", "text", "parts"),
    [
        ("<p>a<p hidden>b<p>c<p hidden=until-found>d", "a c", 2),
        ("<p style='DISPLAY: none !important'>a</p><p style='visibility:hidden'>b<b style="
         "'visibility:visible'>c</b></p>", "c", 2),
        (f"{_TABS}<p class='tab on'>a</p><p class=tab>b</p><p id=x>c<i>d</i></p>", "a c", 2),
        ("<style>@media print{p{display:none}} @media (max-width:99px){p{opacity:0}} @keyframes k{"
         "from{opacity:0}} p::before{display:none}</style><p>a", "a", 0),
        ("<b aria-hidden=true>a</b><template>b</template><noscript>c</noscript><dialog>d</dialog>"
         "<dialog open>e</dialog><input type=hidden value=f><details>g</details>", "e g", 4),
        ("<p style='color:#FFF'>a</p><div style='background:red'><p style='color:white'>b</p></div>"
         "<font color=white>c</font><p style='color:rgba(0,0,0,0)'>d</p>", "b", 3),
        ("<link rel=stylesheet href=a.css><p style='color:#fff'>a", "a", 0),
        ("<p style='font-size:0'>a<i style='font-size:9px'>b</i></p><p style='opacity:0.0'>c</p>"
         "<p style='opacity:.5;font-size:0.5em'>d</p>", "b d", 2),
        ("<ul><li hidden>a<li>b</ul><table><tr hidden><td>c<td>d<tr><td>e<td>f<tr><td hidden>g<td>h"
         "</table>", "b e f h", 3),
        ("<body style='opacity:0'><noscript></noscript><p>a", "a", 0),
        ("<style>.sr{clip:rect(0, 0, 0, 0)} .off{left:-9999px}</style><p class=sr>a<p class=off>b"
         "<p style='text-indent:-999em'>c<p style='margin-left:-20px;clip:rect(0,9px,9px,0)'>d",
         "d", 3),
        ("<p style='margin-left:-150px'>a<p style='margin-left:180pt;text-indent:-180pt'>b"
         "<p style='margin-left:-100%'>c<p style='margin-left:-9999px'>d", "a b c", 1),
        ("<style><!-- .h{display:none} @media (width>=48rem){.w\\:h{display:block}} @media (width "
         "<9em){p{display:none}} --></style><p class='h w:h'>a<p class=h>b</p>", "a", 1),
        ("<body background=a.gif><p style='color:white'>a</p><p style='background-image:linear-"
         "gradient();color:#fff'>b<h1 style='background-clip:text;color:#0000'>c", "a b c", 0),
        ("<div aria-hidden=true>abc<i aria-hidden=true>d</i></div><p style='opacity:0;transition:"
         "all'>e<template><style>p{display:none}</style></template><p><template shadowrootmode=open"
         ">f", "abc e f", 1),
        (f"<style>.z p, .z ~ p, p:nth-child(9), a:has(.z) p{{color:red}}</style>{'<p>a' * 4000}",
         "a " * 4000, 0),
    ],
)  # fmt: skip
def test_what_a_pages_reader_cannot_see(tmp_path: Path, page: str, text: str, parts: int) -> None:
    [found] = _read(write_file(tmp_path / "a.html", page))
    assert re.findall(r"\w+", found.text) == text.split()
    are = "part is" if parts == 1 else "parts are"
    assert found.left_out == ((f"{parts} hidden {are} left out",) if parts else ())


def test_lists_fields_and_tables_within_tables(tmp_path: Path) -> None:
    rows = "<tr><td>up to 5 m<td>150<tr><td>over 5 m<td>210"
    fares = "<tr><th>Who<th>Single<tr><td>Child<td>23<tr><td>Car{}<td>150"
    for page, text, tables in (
        ("<ol start=3 type=a><li>x<li value=7>y</ol><ol reversed><li>p<li>q</ol><ul><li>r</ul>",
         "c. x g. y p q r", 0),
        ("<ol style='list-style:none'><li>x</ol><ol><li><ol type=I><li>y</ol><li>z</ol>",
         "x I. y 2. z", 0),
        ("<input value=Gro><input type=hidden value=no><input type=checkbox checked>a<input "
         "type=radio>b<select><option>c<option selected>d</select>", "Gro ☒ a ☐ b ☐ c ☒ d", 0),
        (f"<table><caption>Fares</caption>{fares.format(f'<table>{rows}</table>')}</table>",
         "Fares Who Single Child 23 Car 150 Fares. Car up to 5 m 150 over 5 m 210", 2),
        (f"<table><tr><td>{'Menu ' * 9}<td><table>{fares.format('')}</table><tr><td>a<td>b</table>",
         f"{'Menu ' * 9}Who Single Child 23 Car 150 a b", 1),
        (f"{'<table><tr><td>a<td>b' * 9}", "a b " * 9, 0),
        ("<ol><li>" * 120 + "x", "1. x", 0),
    ):  # fmt: skip
        [document] = _read(write_file(tmp_path / "a.html", page))
        shown = re.sub(r"[|\s]+|(?<= )--- (?=\|)", " ", document.text).replace("--- ", "")
        assert shown.split() == text.split()
        assert len(document.tables) == tables
        for table in document.tables:
            assert document.text[table.start : table.end] == markdown(table)


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.html", "<title>(anonymous)</title><h2>Part</h2>", "Part"),
        ("a.md", "---\ntitle: Untitled\n---\nText", "a"),
        ("a.md", "---\ntags: [x]\ntitle: 'The Front'\n---\n# One\n\n# Two", "The Front"),
        ("a.md", "---\ntitle: >-\n  The Front\nx: y\n---\n# One", "The Front"),
        ("a.md", "\ufeff## Only *this*\r\n\r\nText", "Only this"),
        ("a.md", "Text first\n\n## Install", "a"),
        ("a.html", "<title>Page - Site</title><h1>Site</h1><h1>Pa<b>ge</b></h1>", "Page"),
        ("a.html", f"<title>{'Named ' * 9000}</title>", f"{('Named ' * 50)[:299]}…"),
        ("a.html", "<p>Text<h3>Last <br>resort</h3>", "Last resort"),
        ("a.txt", "\n The Great  Ferry\r\n\r\nIt was a boat.", "The Great Ferry"),
        ("a.txt", "The Great Ferry\n====\n\nIt was a boat.", "The Great Ferry"),
        ("a.txt", "The Great Ferry\nwas a boat.\n\nIt sank.", "a"),
        ("a.txt", "The ferry was a boat.\n\nIt sank.", "a"),
        ("a.txt", "12.05.2024, 13:00\n\nIt sank.", "a"),
        ("a.txt", "The Great Ferry\n\n", "a"),
        ("a.txt", "渡し船の歴史\n\n昔、船があった。", "渡し船の歴史"),
    ],
)
def test_the_title_is_in_the_document(tmp_path: Path, name: str, text: str, title: str) -> None:
    assert _read(write_file(tmp_path / name, text))[0].title == title


def test_sections_begin_at_their_headings(tmp_path: Path) -> None:
    text = (
        "---\nx: 1\n---\n# T\n\n> ## quoted\n\nThe *first*\n---\n\n```\n# code\n```\n### Deep ##\n"
    )
    (found,) = _read(write_file(tmp_path / "a.md", text))
    places = [(s.title, s.level, text[s.start :][:6]) for s in found.sections]
    assert places == [("T", 1, "# T\n\n>"), ("The first", 2, "The *f"), ("Deep", 3, "### De")]
    (found,) = _read(write_file(tmp_path / "b.html", "<pre>\n</pre><pre> </pre><h1>T</h1>x"))
    assert (found.text, [s.start for s in found.sections]) == ("T\n\nx", [0])
    page = " <p>One<h2> The\nfirst </h2>Two<pre>\n x</pre><div><h3>D<i>ee</i>p</h3></div><h4></h4>"
    (found,) = _read(write_file(tmp_path / "a.html", page))
    assert found.text == "One\n\nThe first\n\nTwo\n\n\n x\n\nDeep"
    places = [(s.title, s.level, found.text[s.start :][:6]) for s in found.sections]
    assert places == [("The first", 2, "The fi"), ("Deep", 3, "Deep")]


def test_passages_are_the_text_whatever_its_sections_and_pages() -> None:
    draw = random.Random(7)
    for _ in range(300):
        pieces = ["word ", "\n\n", "# h\n", "A. ", "x" * 40]
        text = "x" + "".join(draw.choices(pieces, k=draw.randint(0, 60)))
        starts = sorted(draw.choices(range(len(text)), k=draw.randint(0, 8)))
        cuts = sorted({0, len(text), *draw.choices(range(len(text)), k=draw.randint(0, 4))})
        document = SourceDocument(
            "a", text, "s",
            pages=tuple(SourcePage(at, *both) for at, both in enumerate(pairwise(cuts), 1)),
            sections=tuple(SourceSection("abc"[at % 3], draw.randint(1, 4), at) for at in starts),
        )  # fmt: skip
        for size in (None, 1, 20, 200):
            found = placed_passages(document, outline(document), size)
            assert "".join(text[p.start : p.end] for p in found) == text


def test_the_end_of_a_chapter_keeps_its_heading() -> None:
    """What is left of a long chapter isn't joined with the next one, which would take its name."""
    chapters = [
        f"## {name}\n\n### Signs\n\n{'Cough. ' * 12}\n\n### Drugs\n\nZinc.\n\n"
        for name in ("Cold", "Croup", "Flu")
    ]
    text = "# Guide\n\n" + "".join(chapters)
    sections = tuple(
        SourceSection(line.lstrip("# "), len(line) - len(line.lstrip("#")), at)
        for at, line in ((m.start(), m[0]) for m in re.finditer(r"^#.*$", text, re.MULTILINE))
    )
    document = SourceDocument("Guide", text, "guide.md", sections=sections)
    for size in (60, 100, 130):
        for part in placed_passages(document, outline(document), size):
            passage = text[part.start : part.end]
            if "Zinc." in passage and not passage.startswith("## "):
                assert part.path, part
    short = placed_passages(document, outline(document), 1000)
    assert [part.path for part in short] == [()]


_SAMPLES = {
    "Die Fähre fährt um sieben Uhr nach Süden, der Schiffer heißt Jürgen.": "cp1252",
    "Le bac part à sept heures. Le passeur, né en été, s’appelle Lefèvre.": "cp1252",
    "Prom odpływa o siódmej. Kapitan Łukasz Wiśniewski mieszka w Gdańsku.": "cp1250 iso8859-2",
    "Паром отходит в семь часов. Шкипера зовут Иван Петров.": "cp1251 koi8-r utf-16-be",
    "渡船早上七点开。船长叫王小明，住在北京。\n": "gb18030 utf-16-le",
    "渡し船は七時に出ます。船長は山田さんです。\n": "shift_jis",
    "나룻배는 일곱 시에 떠납니다. 선장의 이름은 김철수입니다.": "euc-kr",
}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(text, name) for text, names in _SAMPLES.items() for name in names.split()],
)
def test_an_encoding_is_guessed_and_told(tmp_path: Path, text: str, encoding: str) -> None:
    [found] = _read(write_file(tmp_path / "a.txt", (text * 3).encode(encoding)))
    assert found.text == text * 3
    assert re.fullmatch("the text is read as .*, which is a guess", *found.notes)


def test_encodings(tmp_path: Path) -> None:
    for name in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        [found] = _read(write_file(tmp_path / f"{name}.txt", "Grüße 你好".encode(name)))
        assert (found.text, found.notes) == ("Grüße 你好", ())
    lines = '{"title": "é", "text": "你好"}\n'
    for name in ("utf-8-sig", "utf-16"):
        assert _read(write_file(tmp_path / f"{name}.jsonl", lines.encode(name)))[0].text == "你好"
    page = '<meta charset="windows-1251"><p>Привет</p>'.encode("cp1251")
    assert _read(write_file(tmp_path / "page.html", page))[0].text == "Привет"
    page = '<meta charset="iso-8859-1"><p>Grüße 你好'.encode()
    assert _read(write_file(tmp_path / "stale.html", page))[0].text == "Grüße 你好"
    mixed = ("Grüße 你好. " * 9).encode() + b"caf\xe9"
    [found] = _read(write_file(tmp_path / "mixed.txt", mixed))
    assert found.text.endswith("你好. caf\ufffd")
    assert found.notes == ("the text is read as UTF-8 with 1 bytes that are not, which is a guess",)


def test_records(tmp_path: Path) -> None:
    lines = [
        {"title": "A", "text": " one\u2028still one "},
        {"title": "A", "text": " one\u2028still one "},
        {"title": "`; DROP {x} \u200b", "text": "MATCH (n) DETACH DELETE n", "more": 1},
    ]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n\n"
    found = _read(write_file(tmp_path / "a.jsonl", text))
    assert [(d.title, d.text) for d in found] == [(x["title"], x["text"]) for x in lines]
    assert len({(d.source, d.key) for d in found}) == 3
    assert all(d.whole for d in found)
    array = _read(write_file(tmp_path / "a.json.gz", json.dumps(lines, indent=1)))
    assert [(d.title, d.text) for d in array] == [(x["title"], x["text"]) for x in lines]


_HOTPOTQA = [
    {"_id": "1", "question": "q", "level": "hard",
     "context": [["T", ["One.", " Two. "]], ["Empty", []]]},
    {"_id": "2", "question": "r", "context": [["T", ["One.", " Two. "]], ["T", ["Other"]]]},
]  # fmt: skip
_TWO_WIKI = [{"_id": "1", "question": "q", "evidences": [], "context": [["T", ["One.", "Two."]]]}]
_MUSIQUE = [
    {"id": "1", "question": "q",
     "paragraphs": [{"idx": 0, "title": "T", "paragraph_text": "One.", "is_supporting": True}]}
]  # fmt: skip


@pytest.mark.parametrize("ending", [".json", ".json.gz", ".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize(
    ("questions", "source", "texts"),
    [
        (_HOTPOTQA, "hotpotqa", ["One. Two. ", "One. Two. ", "Other"]),
        (_TWO_WIKI, "2wiki", ["One.Two."]),
        (_MUSIQUE, "musique", ["One."]),
    ],
)
def test_published_questions(
    tmp_path: Path, ending: str, questions: list[object], source: str, texts: list[str]
) -> None:
    lines = ending.startswith(".jsonl")
    text = "\n".join(map(json.dumps, questions)) if lines else json.dumps(questions, indent=2)
    found = _read(write_file(tmp_path / f"x{ending}", text))
    assert [d.text for d in found] == texts
    assert {(d.source, d.title, d.whole) for d in found} == {(source, "T", True)}
    assert len({d.key for d in found}) == len(set(texts))


def test_other_objects_are_the_rows_of_tables(tmp_path: Path) -> None:
    """Names within names, ragged objects, lists in a wrapper; rows of texts are passages each."""
    deals = [
        {"id": 1, "who": {"name": "Ana"}, "won": True, "tags": ["a", "b"], "share": 2.125},
        {"id": 2, "who": None, "due": "2025-03-01"},
    ]
    names = ("id", "who.name", "won", "tags", "share", "who", "due")
    rows = (names, ("1", "Ana", "true", "a, b", "2.1250", "", ""), ("2", *[""] * 5, "2025-03-01"))
    lines = "\n".join(map(json.dumps, deals))
    wrapped = json.dumps({"meta": {"page": 1}, "data": {"deals": deals}, "notes": [{"n": 1}]})
    for name, data, captions in (
        ("a.json", json.dumps(deals), [""]),
        ("a.jsonl", lines, [""]),
        ("b.json", wrapped, ["data.deals", "notes"]),
    ):
        [found] = _read(write_file(tmp_path / name, data))
        assert [table.caption for table in found.tables] == captions
        assert (found.tables[0].rows, found.title) == (rows, name[0])
    assert "meta.page: 1" in found.text
    told = (
        "The lift stopped between two floors, and the alarm button did not answer for an hour. " * 2
    )
    tickets = [{"no": n, "subject": f"Lift {name}", "body": told} for n, name in enumerate("xyz")]
    values = f"no,subject,body\n0,Lift x,{json.dumps(told)}\n1,Lift y,{json.dumps(told)}\n"
    for name, data, count in (("t.json", json.dumps(tickets), 3), ("t.csv", values, 2)):
        [table, *texts] = _read(write_file(tmp_path / name, data))
        assert len(table.tables[0].rows) == count + 1
        assert told not in table.text
        assert [each.title for each in texts] == ["Lift x", "Lift y", "Lift z"][:count]
        assert all(each.whole and told.strip() in each.text for each in texts)


def test_a_long_array_is_read_in_pieces(tmp_path: Path) -> None:
    made = [{"title": f"T{n}", "text": f'😀\\ " {n} ' * 40} for n in range(9_000)]
    text = json.dumps(made, ensure_ascii=False)
    assert len(text.encode()) > 5_000_000
    found = _read(write_file(tmp_path / "x.json", text))
    assert [d.text for d in found] == [x["text"] for x in made]
    broken = text[: len(text) // 2]
    path = write_file(tmp_path / "y.json", broken)
    assert len(_errors(path)) == 1
    assert sum(isinstance(r, SourceDocument) for r in read(path)) > 4_000


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.txt", bytes(range(256)) * 9, "a.txt: not text in any known encoding. Save"),
        ("a.txt", b" \n", "a.txt: the file holds no text"),
        ("a.txt", "\u00a0\u00ad\u200b\x0c\u3164".encode(), "a.txt: the file holds no text"),
        ("a.txt", b"\x00\x01\n", "a.txt: the file holds no text"),
        ("a.md", b"# \n\n- \n", "a.md: the file holds no text"),
        ("a.csv", b"", "a.csv: the file holds no text"),
        ("a.csv", b'a,b\n1,2\n3,"4\n5,6\n', "a.csv:3: a quote opens in this record and is never"),
        ("a.html", b"<p>&nbsp;&#8203;</p>", "a.html: the file holds no text"),
        ("a.jsonl", b"", "a.jsonl: the file holds no record"),
        ("a.jsonl", b'\n{"title": "A", "text": }', "a.jsonl:2: not JSON (Expecting value, col"),
        ("a.jsonl", b'{"title": "A", "text": "\xff"}', "a.jsonl:1: not utf-8 text"),
        ("a.jsonl", b'{"title": "A"}', 'a.jsonl:1: the record has no "text"'),
        ("a.jsonl", b'{"title": "A", "text": ""}', 'a.jsonl:1: "text" is empty'),
        ("a.jsonl", b'{"title": " ", "text": "x"}', 'a.jsonl:1: "title" is empty'),
        ("a.jsonl", b'{"title": 1, "text": "x"}', 'a.jsonl:1: "title" is not a text'),
        ("a.jsonl", b'{"title": "\\ud800", "text": "x"}', 'a.jsonl:1: "title" holds half a surr'),
        ("a.jsonl", b"[1]", "a.jsonl:1: not a record"),
        ("a.jsonl", b"[" * 200_000, "a.jsonl:1: not JSON"),
        ("a.jsonl", b"9" * 10_000, "a.jsonl:1: not JSON"),
        ("a.jsonl", b'{"question": "q", "context": 1}', 'a.jsonl:1: the question\'s "context"'),
        ("a.jsonl", b'{"question": "q", "paragraphs": [1]}', "a.jsonl:1: the question's"),
        ("a.json", b'{"a": 1}', 'a.json:1: the record has no "text"'),
        ("a.json", b"[]", "a.json: the file holds no record"),
        ("a.json", b'[{"title": "A",\n "text" "x"}]', "a.json:2: not JSON"),
        ("a.json", b'{\n"title": "A",\n "text" "x"\n}', "a.json:3: not JSON"),
        ("a.json", b'{\n"texts": [1,\n2]\n}', 'a.json:1: the record has no "text"'),
        ("a.json", b'[\n\n{"title": "A"}]', 'a.json:3: the record has no "text"'),
        ("a.json", b'[{"title": "A", "text": "\xff"}]', "a.json:1: not utf-8 text"),
        ("a.json", b'[\n{"title": "A", "text": "b"}\n', "a.json:3: not JSON (the array"),
        ("a.json", b'[1 2]', "a.json:1: not a record"),
    ],
)  # fmt: skip
def test_errors_name_their_place(tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    found = _errors(write_file(tmp_path / name, data))
    assert found[0].startswith(f"{tmp_path.resolve()}/{expected}"), found
    assert len(found) == (2 if data == b"[1 2]" else 1)
    if "has no" in expected or "not a record" in expected:
        assert _EXPLAINED in found[0]


def test_a_damaged_archive_is_an_error_after_what_could_be_read(tmp_path: Path) -> None:
    made = ({"title": str(n), "text": os.urandom(40).hex()} for n in range(9_000))
    packed = gzip.compress("".join(f"{json.dumps(record)}\n" for record in made).encode())
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(packed[: len(packed) // 2])
    readings = list(read(path))
    assert sum(isinstance(r, SourceDocument) for r in readings) > 1_000
    assert "cut.jsonl.gz: the compressed file is damaged" in str(readings[-1])
    other = tmp_path / "not.txt.gz"
    other.write_bytes(b"no archive")
    assert "damaged" in _errors(other)[0]


def test_the_questions_of_a_passage_are_told_and_not_loaded(tmp_path: Path) -> None:
    rows = [
        {"title": "Wing", "text": "A keeper.", "links": [], "questions": [{"qid": "q1"}] * 3},
        {"title": "The ferry", "body": "It stopped in 1950.", "url": ""},
    ]
    held = _read(write_file(tmp_path / "dev.json", json.dumps(rows)))
    texts = [("Wing", "A keeper."), ("The ferry", "It stopped in 1950.")]
    assert [(document.title, document.text) for document in held] == texts
    assert [document.left_out for document in held] == [("3 questions of 'Wing'",), ()]


def test_find_files(tmp_path: Path) -> None:
    for name in "b.txt a.md c.exe .hidden.txt deep/er/z.html.gz .git/x.txt [1].txt".split():
        write_file(tmp_path / name, "x")
    (tmp_path / "link.txt").symlink_to(tmp_path / "b.txt")
    (tmp_path / "zlink.md").symlink_to(tmp_path / "other.dat")
    (tmp_path / "other.dat").write_text("# Linked")
    root = tmp_path.resolve()

    def names(*paths: str | Path) -> list[str]:
        found = find(paths)
        assert not found.errors
        return [path.relative_to(root).as_posix() for path in found.files]

    everything = ["[1].txt", "a.md", "b.txt", "deep/er/z.html.gz", "zlink.md"]
    assert names(tmp_path) == everything
    assert names(tmp_path, tmp_path / "b.txt", str(tmp_path)) == everything
    assert names(tmp_path / "b.txt", tmp_path)[0] == "b.txt"
    assert names(f"{tmp_path}/*.md") == ["a.md", "zlink.md"]
    assert _read(tmp_path / "zlink.md")[0].title == "Linked"
    assert names(f"{tmp_path}/**/*.gz") == ["deep/er/z.html.gz"]
    assert names(tmp_path / "[1].txt") == ["[1].txt"]
    ignored = find([tmp_path, tmp_path]).ignored
    assert {path.name: reason for path, reason in ignored.items()} == {
        **dict.fromkeys((".git", ".hidden.txt"), "hidden"),
        "c.exe": "a program",
        "other.dat": "text of an unknown kind (.dat): rename it to .txt to load it",
    }
    assert [path.name for path in find([f"{tmp_path}/*"]).ignored] == ["c.exe", "other.dat"]
    assert "cannot be looked up" in str(find(["x" * 5_000]).errors[0])
    wrong = [tmp_path / "none", tmp_path / "c.exe", f"{tmp_path}/*.xyz", tmp_path / ".git"]
    reasons = [str(error) for error in find([*wrong, tmp_path / "a.md"]).errors]
    assert "no such file or folder" in reasons[0]
    assert "c.exe: a program. Read are .txt" in reasons[1]
    assert "no file matches" in reasons[2]
    assert len(reasons) == 3
    (tmp_path / "empty").mkdir()
    assert "no file that can be loaded. It has no file" in str(find([tmp_path / "empty"]).errors[0])
    (tmp_path / "empty" / "a.zip").write_text("x")
    assert "loaded. a.zip: an archive" in str(find([tmp_path / "empty"]).errors[0])


def test_links_and_what_cannot_be_read_are_named(tmp_path: Path) -> None:
    for name in ("up/top/a.md", "up/top/b/b.md", "aside/c.md"):
        write_file(tmp_path / name, "x")
    top = tmp_path / "up" / "top"
    for link, target in (
        ("loop", "."), ("back", "../.."), ("b/again", "../../../aside"), ("c", "../../aside"),
        ("self.md", "self.md"), ("gone.md", "nowhere"),
    ):  # fmt: skip
        (top / link).symlink_to(target)
    (top / "b" / "back").symlink_to(top / "b")
    os.mkfifo(top / "pipe.txt")
    os.mkfifo(top / "pipe")
    within = find([top])
    assert [path.relative_to(top).as_posix() for path in within.files] == ["a.md", "b/b.md"]
    outward = [path.name for path, why in within.ignored.items() if "--follow-links" in why]
    assert outward == ["back", "c", "again"]
    assert find([f"{top}/**/*.md"]).files == within.files
    found = find([top], follow_links=True)
    names = [path.relative_to(top).as_posix() for path in found.files]
    assert names == ["a.md", "b/b.md", "c/c.md"]
    assert {path.name for path in found.ignored} == {"loop", "back", "again", "pipe"}
    assert [Path(error.where or "").name for error in found.errors] == [
        "gone.md", "pipe.txt", "self.md",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data", "kind", "reason"),
    [
        ("REPORT.MD", b"x", ".md", ""),
        ("A.PDF.GZ", b"x", ".pdf", ""),
        ("README", b"Read me.", ".txt", ""),
        ("LICENSE-2.0", b"Do as you like.", ".txt", ""),
        ("core", b"\x7fELF\x00\x01", "", "it is not text"),
        ("empty", b"", "", "it is empty"),
        ("a.doc", b"x", "", "an older Word file: save it as .docx"),
        ("A.RTF", b"x", "", "another kind of text file: save it as .docx"),
        ("a.py", b"x = 1", "", "text of an unknown kind (.py): rename it to .txt to load it"),
        ("a.bin", b"\x00\x01", "", "not a kind of document that is known (.bin)"),
        ("a.zip", b"PK", "", "an archive: unpack it and load what is in it"),
        ("~$a.docx", b"x", "", "a program's temporary file"),
    ],
)
def test_files_read_or_not(tmp_path: Path, name: str, data: bytes, kind: str, reason: str) -> None:
    path = write_file(tmp_path / name, data)
    assert (extension(path), unread_reason(path)) == (kind, reason)
