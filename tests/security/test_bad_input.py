"""Input that nobody would want: the short form of benchmarks/fuzz.py, and files that unpack to more
than there is memory for.
"""

from __future__ import annotations

import gzip
import runpy
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from small_pdfs import pdf

from kgp_neo4j.corpus.answer.reply import parse_reply
from kgp_neo4j.corpus.load.delete import corpora, delete_corpus
from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.answer import map_reply
from kgp_neo4j.mindmap.load.graphs import delete_graph, graphs
from kgp_neo4j.mindmap.load.triple_files import is_encoding, read_triples
from kgp_neo4j.types.errors import InputError, KgpError

_BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
#: Inputs of each target, and as many more as it has shares; the benchmark makes 100,000.
_INPUTS = 3


@pytest.fixture(scope="module")
def fuzz() -> Iterator[SimpleNamespace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(_BENCHMARKS))
        yield SimpleNamespace(**runpy.run_path(str(_BENCHMARKS / "fuzz.py")))


@pytest.fixture(scope="module")
def place(fuzz: SimpleNamespace, database: Database) -> Iterator[SimpleNamespace]:
    made = fuzz.Place(database)
    made.prepare()
    yield made
    for corpus in corpora(database):
        if corpus.name in (fuzz.CORPUS, fuzz.BAD):
            delete_corpus(database, corpus.name)
    for graph in graphs(database):
        if graph.name.startswith("fuzz-"):
            delete_graph(database, graph.name)


def test_no_input_brings_a_traceback_or_changes_what_is_there(
    fuzz: SimpleNamespace, place: SimpleNamespace
) -> None:
    before = place.held()
    ends: dict[str, list[bool]] = {name: [] for name in fuzz.TARGETS}
    for name, target in fuzz.TARGETS.items():
        _give(place, target, ends[name])
    assert min(map(len, ends.values())) >= _INPUTS
    assert {True, False} == {end for each in ends.values() for end in each}
    assert place.held() == before


def _give(place: SimpleNamespace, target: SimpleNamespace, ends: list[bool]) -> None:
    """Give a target its inputs; note whether each ended in a result."""

    @seed(7)
    @settings(
        max_examples=_INPUTS + target.share,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(**target.inputs)
    def once(**input_: object) -> None:
        try:
            target.do(place, **input_)
            ends.append(True)
        except KgpError:
            ends.append(False)

    once()


# --- Much in little -------------------------------------------------------------------------------


def _packed(block: bytes, times: int) -> bytes:
    pack = zlib.compressobj(9)
    return b"".join([*(pack.compress(block) for _ in range(times)), pack.flush()])


def _with_content(content: bytes, filters: bytes) -> bytes:
    """A PDF of one page whose content is given packed."""
    made = pdf(lambda page: page.canvas.drawString(72, 700, "Hello"), pageCompression=0)
    begin = made.index(b"stream\n", made.index(b"Length")) + len(b"stream\n")
    start = made.rindex(b"<<", 0, begin)
    end = made.index(b"endstream", begin)
    told = b"<< /Length %d /Filter %s >>\nstream\n" % (len(content), filters)
    return made[:start] + told + content + b"\n" + made[end:]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("stream.pdf", lambda: _with_content(_packed(bytes(1 << 20), 160), b"/FlateDecode")),
        (
            "twice.pdf",
            lambda: _with_content(
                zlib.compress(_packed(bytes(1 << 20), 160)), b"[/FlateDecode /FlateDecode]"
            ),
        ),
        (
            "letters.pdf",
            lambda: _with_content(
                _packed(b"BT /F1 12 Tf (%s) Tj ET\n" % (b"a" * 1000), 300), b"/FlateDecode"
            ),
        ),
        ("line.jsonl.gz", lambda: gzip.compress(b"0" * (160 << 20), 1)),
        ("string.json.gz", lambda: gzip.compress(b'["' + b"a" * (160 << 20), 1)),
        ("text.txt.gz", lambda: gzip.compress(b"a " * (80 << 20), 1)),
        ("table.csv.gz", lambda: gzip.compress(b"a,b\n" * (40 << 20), 1)),
    ],
)
def test_a_file_that_unpacks_without_end_is_refused(
    name: str, data: object, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data())  # type: ignore[operator]
    assert path.stat().st_size < 8 << 20
    before = psutil.Process().memory_info().rss
    with bar("read", None) as progress:
        (found,) = read(path, progress)
    assert isinstance(found, InputError)
    assert psutil.Process().memory_info().rss - before < 400 << 20


def test_a_damaged_stream_gives_what_comes_before_the_fault(tmp_path: Path) -> None:
    text = b"".join(b"BT /F1 12 Tf 72 %d Td (Line %d) Tj ET\n" % (700 - i, i) for i in range(500))
    packed = zlib.compress(text)
    path = tmp_path / "cut.pdf"
    path.write_bytes(_with_content(packed[: len(packed) // 2], b"/FlateDecode"))
    with bar("read", None) as progress:
        (found,) = read(path, progress)
    assert not isinstance(found, InputError)
    assert "Line 1" in found.text


# --- What was found -------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [b"a\rb,c\n", b"x" * 200_000 + b",a,b\n", b'"a,b\n'])
def test_a_first_line_that_is_no_record_is_an_error_or_a_row(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(line + b"a,b,c\n")
    with bar("read", None) as progress:
        assert list(read_triples(path, progress))


def test_no_name_of_an_encoding_is_an_error() -> None:
    assert not any(map(is_encoding, ("\0", "utf-8\0", "no such", "zlib", "")))


@pytest.mark.parametrize("text", ["*_" * 20_000, "# " * 30_000, ">" * 50_000, "1. " * 20_000])
def test_marks_without_end_are_read_in_linear_time(text: str) -> None:
    assert map_reply.parse_reply(text).edges == ()
    assert parse_reply(text, "long").kind in ("answer", "empty")
