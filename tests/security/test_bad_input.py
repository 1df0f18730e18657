"""Input that nobody wants: odd texts in files and questions, files that unpack to too much."""

import contextlib
import gzip
import zlib
from pathlib import Path

import psutil
import pytest
from graphs import write_file
from reading_files import read_one
from small_pdfs import pdf

from kgp_neo4j import Corpus, Database, KgpError
from kgp_neo4j.corpus.answer.check import parse_reply
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import list_passages
from kgp_neo4j.environment.job import bar
from kgp_neo4j.mindmap.answer import ask_graph as model
from kgp_neo4j.mindmap.load.graph_files import ColumnMapping, TableMapping, read_file
from kgp_neo4j.types.errors import InputError

#: Texts that nobody would want: control signs, injections, deep nesting, much of one sign.
_ODD = (
    "\0\x1b]0;owned\x07\u202e\ud800",
    "=cmd|' /C calc'!A0",
    '"]) DETACH DELETE n //',
    "a:b AND OR NOT /.*/ [a TO *] ~9 ^1e400 \\",
    "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x>&a;</x>",
    "<table><tr><td colspan=99999999 rowspan=99999999>x",
    "[" * 100_000,
    '{"a":' * 50_000,
    "<div>" * 20_000,
    "- " * 20_000,
    "| " * 20_000,
    "a" * 300_000,
    "\u0301" * 50_000,
)
_ENDINGS = (".md", ".html", ".txt", ".csv", ".json", ".jsonl", ".pdf", ".docx", ".xlsx", ".gz")


def _state(database: Database, corpus: str) -> list[tuple[str, str]]:
    return [(p.id, p.text) for p in list_passages(database, corpus, limit=10_000)]


@pytest.mark.parametrize("ending", _ENDINGS)
def test_no_file_brings_a_traceback_or_changes_other_documents(
    ending: str, database: Database, demo_corpus: str, corpus: str, tmp_path: Path
) -> None:
    before = _state(database, demo_corpus)
    outcomes = set()
    for number, text in enumerate(_ODD):
        file = tmp_path / f"{number}{ending}"
        file.write_bytes(text.encode(errors="surrogatepass"))
        try:
            load(database, [file], corpus)
            outcomes.add("loaded")
        except KgpError:
            outcomes.add("refused")
    assert outcomes
    assert _state(database, demo_corpus) == before


@pytest.mark.parametrize("question", _ODD)
def test_no_question_has_a_traceback(question: str, database: Database, demo_corpus: str) -> None:
    with contextlib.suppress(KgpError):
        answer = Corpus(demo_corpus, database=database).ask(question)
        assert answer.question


def _packed(block: bytes, times: int) -> bytes:
    pack = zlib.compressobj(9)
    return b"".join([*(pack.compress(block) for _ in range(times)), pack.flush()])


def _with_content(content: bytes, filters: bytes = b"/FlateDecode") -> bytes:
    """A PDF of one page whose content is given packed."""
    made = pdf(lambda page: page.canvas.drawString(72, 700, "Hello"), pageCompression=0)
    begin = made.index(b"stream\n", made.index(b"Length")) + len(b"stream\n")
    start = made.rindex(b"<<", 0, begin)
    end = made.index(b"endstream", begin)
    told = b"<< /Length %d /Filter %s >>\nstream\n" % (len(content), filters)
    return made[:start] + told + content + b"\n" + made[end:]


_ZEROS = _packed(bytes(1 << 20), 160)
_TWICE = b"[/FlateDecode /FlateDecode]"
_LETTERS = _packed(b"BT /F1 12 Tf (%s) Tj ET\n" % (b"a" * 1000), 300)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("stream.pdf", lambda: _with_content(_ZEROS)),
        ("twice.pdf", lambda: _with_content(zlib.compress(_ZEROS), _TWICE)),
        ("letters.pdf", lambda: _with_content(_LETTERS)),
        ("line.jsonl.gz", lambda: gzip.compress(b"0" * (160 << 20), 1)),
        ("string.json.gz", lambda: gzip.compress(b'["' + b"a" * (160 << 20), 1)),
        ("text.txt.gz", lambda: gzip.compress(b"a " * (80 << 20), 1)),
        ("table.csv.gz", lambda: gzip.compress(b"a,b\n" * (40 << 20), 1)),
    ],
)
def test_what_unpacks_without_end_is_refused(name: str, data: object, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data())  # type: ignore[operator]
    assert path.stat().st_size < 8 << 20
    before = psutil.Process().memory_info().rss
    with pytest.raises(InputError):
        read_one(path)
    assert psutil.Process().memory_info().rss - before < 400 << 20


def test_a_damaged_stream_gives_what_comes_before_the_fault(tmp_path: Path) -> None:
    text = b"".join(b"BT /F1 12 Tf 72 %d Td (Line %d) Tj ET\n" % (700 - i, i) for i in range(500))
    packed = zlib.compress(text)
    cut = _with_content(packed[: len(packed) // 2])
    assert "Line 1" in read_one(tmp_path / "cut.pdf", cut).text


@pytest.mark.parametrize("line", [b"a\rb,c\n", b"x" * 200_000 + b",a,b\n", b'"a,b\n'])
def test_a_first_line_that_is_no_record_is_an_error_or_a_row(line: bytes, tmp_path: Path) -> None:
    path = write_file(tmp_path / "t.csv", line + b"a,b,c\n")
    with bar("read", None) as progress:
        assert list(read_file(path, progress))


@pytest.mark.parametrize("name", ["\0", "utf-8\0", "no such", "zlib"])
def test_no_name_of_an_encoding_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="is no encoding"):
        TableMapping("name", aliases=ColumnMapping("other"), encoding=name)


@pytest.mark.parametrize("text", ["*_" * 20_000, "# " * 30_000, ">" * 50_000, "1. " * 20_000])
def test_marks_without_end_are_read_in_linear_time(text: str) -> None:
    assert model.parse_reply(text).edges == ()
    assert parse_reply(text, "long").kind in ("answer", "empty")
