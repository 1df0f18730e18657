"""Bad input, counted: thousands of inputs that nobody would want, by Hypothesis or by coverage.

    python benchmarks/fuzz.py --inputs 100000 --log fuzz.jsonl
    python benchmarks/fuzz.py --inputs 20000 --only documents --coverage
    python benchmarks/fuzz.py --inputs 250 --only documents --seed 7

Each input goes the way that a user's would: a file is loaded, a question asked, a procedure called.
It passes where the result is one, or one of this package's errors; it fails by any other exception,
by taking over 10 s, by a process that grows by more than 1 GB or dies, or where the corpus and the
graph that lay there before are not the same afterwards. What failed is a line of the log, with the
batch's seed, which makes it again. A batch with an input over 10 s is run once more, and what
counts is how that ends. `--coverage` lets Atheris choose the inputs, where it is installed.

Needs the extra `test`; the database is the one that all commands use.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import hashlib
import io
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import _common as common
import psutil
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from neo4j import Query
from neo4j.exceptions import ClientError, DatabaseError

from kgp_neo4j import Corpus
from kgp_neo4j.corpus.answer import reply as corpus_reply
from kgp_neo4j.corpus.load.delete import corpora
from kgp_neo4j.corpus.load.export_corpus import export_corpus, import_corpus
from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.corpus.load.sections import outline, placed_passages
from kgp_neo4j.corpus.load.split import DEFAULT_SIZE
from kgp_neo4j.environment.configuration import read_configuration
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.evaluate.questions import read_asked, read_questions
from kgp_neo4j.evaluate.scores import read_rows
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.graphdb.statements import folder, statement
from kgp_neo4j.integrations.mcp import make_server
from kgp_neo4j.mindmap.answer import map_reply
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.load.entity_tables import read_table
from kgp_neo4j.mindmap.load.export_graph import export_graph, import_graph
from kgp_neo4j.mindmap.load.gather import Gathered
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.mindmap.load.load_graph import load_graph
from kgp_neo4j.mindmap.load.mapping import read_mapping
from kgp_neo4j.mindmap.load.triple_files import read_triples
from kgp_neo4j.types.errors import CorpusError, InputError, KgpError
from kgp_neo4j.types.language import Reply

#: Seconds and bytes that an input may take, and inputs that share a seed and a process.
SECONDS, GROWTH, BATCH = 10, 2**30, 1000
SLOW = f"over {SECONDS} s"
#: Inputs that Atheris begins with.
_FIRST = 50
CORPUS, GRAPH = "fuzz good", "fuzz-good"
#: The corpus that bad input may go to.
BAD = "fuzz bad"

ODD = (
    "", "\0", "\x1b]0;owned\x07", "\x1b[2J", "\u202e", "\u200f", "\ufeff", "\ud800", "\U0001f600",
    "\r", "\v", "Z\u0337\u0321\u0349", "日本語。", "مرحبا", "=cmd|' /C calc'!A0",
    "=HYPERLINK(\"http://x\")",
    "{{7*7}}", "${jndi:ldap://x}", "%s%n", "$(id)", "`id`", "' OR 1=1", "\"]) DETACH DELETE n //",
    "`", "\t`", "a\\u0060b", "AND OR NOT", "a:b", "/.*/", "[a TO *]", "~9", "^1e400", "\\",
    "*?*?*?*",
    "<!DOCTYPE x [<!ENTITY a 'aaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>]><x>&b;</x>",
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    "<table><tr><td colspan=99999999 rowspan=99999999>x",
    "<script>x()</script>", "![i](http://evil.example/x.png?d=1)", "[a](javascript:alert(1))",
    "|a|b|\n|-|-|",
    "1e999", "-0", "NaN", "0x7fffffffffffffff", "9" * 400, "12/31/9999", "٣", "½", "(" * 300,
    "[" * 300,
    "/MediaBox [0 0 1e30 1e30]", "/Width 100000 /Height 100000", "/Kids [1 0 R]", "endobj",
    "stream\n",
)  # fmt: skip
#: Text that takes long or much where something is read in more than linear time.
LONG = (
    "<div>" * 20_000, "[" * 100_000, '{"a":' * 50_000, ">" * 20_000 + " x", "- " * 20_000,
    "a,b\t" * 20_000,
    "*_" * 20_000, "![" * 20_000, "a" * 300_000, "a. " * 50_000, "\n" * 200_000, "&" * 50_000,
    "(" * 50_000,
    "1 " * 50_000, "| " * 20_000, "A b " * 30_000, "<td>" * 20_000, "`" * 30_000, "\u0301" * 50_000,
)  # fmt: skip


# --- Inputs ---------------------------------------------------------------------------------------


texts = st.lists(
    st.one_of(st.text(max_size=40), st.sampled_from(ODD), st.from_regex(r"[A-Z][a-z]{2,8}")),
    max_size=12,
).map("".join)
values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        texts,
        st.sampled_from((CORPUS, GRAPH, "Hesk Bridge", "Isobel Tarn")),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=8,
)


class Change(NamedTuple):
    """A change of a sample: at a share of its length, some bytes out and others in."""

    at: float
    out: int
    put: bytes


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


changes = st.lists(
    st.builds(
        Change,
        st.floats(0, 1, exclude_max=True),
        st.one_of(st.just(0), st.integers(0, 8), st.integers(0, 100_000)),
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from(ODD).map(_encoded),
            texts.map(_encoded),
            st.sampled_from(LONG).map(_encoded),
        ),
    ),
    max_size=6,
)


def changed(data: bytes, made: list[Change]) -> bytes:
    """Return a sample with its changes; of a zip archive, one of its members has them."""
    if data.startswith(b"PK") and made and made[0].at < 0.9:
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            members = {name: old.read(name) for name in old.namelist()}
        names = sorted(members)
        name = names[int(made[0].at / 0.9 * len(names))]
        members[name] = changed(members[name], made[1:])
        new = io.BytesIO()
        with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as package:
            for each, content in members.items():
                package.writestr(each, content)
        return new.getvalue()
    for at, out, put in made:
        place = int(at * len(data))
        data = data[:place] + put + data[place + out :]
    return data


PROSE = (
    "The Hesk Bridge was designed by Isobel Tarn. It replaced the ferry in 1912.\n\n"
    "Isobel Tarn was an engineer. She was born in Kettlehaven, over a bakery.\n"
)
GRID = [["Light", "Height (m)", "Lit"], ["Skerry", "31.5", "1890"], ["Norholm", "18", "1902"]]


@cache
def samples() -> dict[str, bytes]:
    """Return a small document of each kind, by the ending of its name."""
    import docx
    import openpyxl
    import pptx
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

    def saved(thing: Any) -> bytes:
        file = io.BytesIO()
        thing.save(file)
        return file.getvalue()

    pdf = io.BytesIO()
    styles = getSampleStyleSheet()
    story = [Paragraph("Lights", styles["Title"]), Paragraph(PROSE, styles["Normal"]), Table(GRID)]
    SimpleDocTemplate(pdf, pageCompression=0).build(story)
    word = docx.Document()
    word.add_heading("Lights")
    word.add_paragraph(PROSE)
    table = word.add_table(len(GRID), len(GRID[0]))
    for cell, said in zip(table._cells, [cell for row in GRID for cell in row], strict=True):
        cell.text = said
    book = openpyxl.Workbook()
    for row in GRID:
        book.active.append(row)
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Lights", PROSE
    lines = "\n".join(",".join(row) for row in GRID)
    cells = "".join(f"<tr>{''.join(f'<td>{c}' for c in row)}" for row in GRID)
    question = {
        "question": "Who?",
        "context": [["Hesk Bridge", PROSE.splitlines()]],
        "supporting_facts": [["Hesk Bridge", 0]],
        "answer": "Isobel Tarn",
        "paragraphs": [{"title": "Tarn", "paragraph_text": PROSE, "is_supporting": True}],
    }
    record = json.dumps({"title": "Hesk Bridge", "text": PROSE})
    return {
        ".pdf": pdf.getvalue(),
        ".docx": saved(word),
        ".xlsx": saved(book),
        ".pptx": saved(show),
        ".html": f"<html><title>Lights</title><h1>A</h1><p>{PROSE}<table>{cells}</table>".encode(),
        ".md": f"# Lights\n\n{PROSE}\n## More\n\n|a|b|\n|-|-|\n|1|2|\n\n> - x\n".encode(),
        ".txt": PROSE.encode(),
        ".csv": lines.encode(),
        ".tsv": lines.replace(",", "\t").encode(),
        ".jsonl": f"{record}\n{json.dumps(question)}\n".encode(),
        ".json": json.dumps([question, json.loads(record)]).encode(),
    }


TRIPLES = {
    ".tsv": b"head\trelation\ttail\nflu\thas symptom\tfever\nflu\ttreated with\trest\n",
    ".csv": b'head,relation,tail\n"flu, common",has symptom,fever\n',
    ".jsonl": b'{"head": "flu", "relation": "has symptom", "tail": "fever"}\n["a", "b", "c"]\n',
    ".json": b'[["flu", "has symptom", "fever"], {"head": "a", "relation": "b", "tail": "c"}]',
    ".txt": b"flu\thas symptom\tfever\n",
}
MAPPING = b"""name = "name"
type = "disease"
separator = ","
noise = ["^x"]
[[columns]]
column = "symptom"
relation = "has symptom"
type = "symptom"
separators = ";"
"""
CONFIGURATION = b"""[neo4j]
uri = "neo4j://localhost:7687"
user = "neo4j"
[llm]
model = "small"
temperature = 0.5
timeout = 60
"""


# --- Targets: what is done with an input ----------------------------------------------------------


class Model:
    """A language model that writes what it is given, whatever it is asked."""

    name, context = "fuzz", 8192

    def __init__(self, said: str) -> None:
        self._said = said

    def reply(self, task: str, prompt: str, **_: Any) -> Reply:
        """Return the reply."""
        return Reply(self._said, "stop" if self._said.strip() else "empty", 1, 1)

    def count(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())


class Place:
    """Where inputs go: a folder, the database, a corpus and a graph that must stay as they are."""

    def __init__(self, database: Database) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kgp-fuzz-"))
        self.database = database
        self.corpus = Corpus(CORPUS, database=self.database)

    def file(self, ending: str, data: bytes) -> Path:
        """Write an input as a file and return its path."""
        path = self.folder / f"input{ending}"
        path.write_bytes(data)
        return path

    def prepare(self) -> None:
        """Load and connect the good corpus and the good graph."""
        for kind in (".jsonl", ".md", ".csv"):
            self.corpus.load([self.file(kind, samples()[kind])])
        self.corpus.connect()
        load_graph(self.database, [self.file(".tsv", TRIPLES[".tsv"])], GRAPH)

    def clear(self) -> None:
        """Delete what an input that was stopped in the middle has left."""
        with contextlib.suppress(CorpusError):
            Corpus(BAD, database=self.database).delete()

    def held(self) -> str:
        """Return what the good corpus and graph hold, as one text."""
        there = [each for each in corpora(self.database) if each.name == CORPUS]
        known = [each for each in graphs(self.database) if each.name == GRAPH]
        return repr((there, known, self.corpus.passages(), self.corpus.tables()))

    @cached_property
    def exports(self) -> dict[str, bytes]:
        """The good corpus and the good graph as files."""
        made = {}
        for kind, write, name in (
            ("corpus", export_corpus, CORPUS),
            ("graph", export_graph, GRAPH),
        ):
            path = self.folder / f"{kind}.kgp"
            write(self.database, name, path)
            made[kind] = path.read_bytes()
        return made

    @cached_property
    def client(self) -> Any:
        """A client of the service, with tokens: of a reader, of one who may write elsewhere."""
        from starlette.testclient import TestClient

        from kgp_neo4j.serve.app import make_app
        from kgp_neo4j.serve.service import ServeSettings, Service
        from kgp_neo4j.serve.tokens import RIGHTS, Tokens, add_token

        file = self.folder / "tokens.json"
        self.tokens = {
            "reader": add_token(file, "reader", corpora=[CORPUS], graphs=[GRAPH]),
            "writer": add_token(file, "writer", corpora=[BAD], rights=RIGHTS),
            "nobody": "no token",
        }
        limits = ServeSettings(threads=1, upload=1, folder=self.folder / "uploads")
        service = Service(self.database, settings=limits, tokens=Tokens(file))
        client = TestClient(make_app(service), raise_server_exceptions=False)
        client.__enter__()
        return client

    @cached_property
    def server(self) -> Any:
        """The MCP server, over a connection that only reads."""
        reading = type(self.database)(self.database.connection, read_only=True)
        return make_server(reading, corpus=CORPUS, graph=GRAPH)


def read_document(place: Place, kind: str, made: list[Change]) -> None:
    """Read a damaged document and split it into passages, without the database."""
    data = changed(samples()[kind], made)
    with bar("read", len(data)) as progress:
        for reading in read(place.file(kind, data), progress):
            if not isinstance(reading, InputError):
                placed_passages(reading, outline(reading), DEFAULT_SIZE)


def load_document(place: Place, kind: str, made: list[Change]) -> None:
    """Load a damaged document, connect it and delete it again."""
    path = place.file(kind, changed(samples()[kind], made))
    corpus = Corpus(BAD, database=place.database)
    if corpus.load([path], keep_going=True).passages:
        corpus.connect()
        corpus.delete()


def read_triple_file(place: Place, kind: str, made: list[Change]) -> None:
    """Read a damaged file of triples."""
    gathered = Gathered("fuzz", keep_going=True)
    with bar("read", 1) as progress:
        gathered.read(read_triples(place.file(kind, changed(TRIPLES[kind], made)), progress))
    gathered.decide_types({}, {})


def read_mapped(place: Place, mapping: list[Change], made: list[Change]) -> None:
    """Read a damaged table by a damaged mapping."""
    table = read_mapping(place.file(".toml", changed(MAPPING, mapping)))
    rows = changed(b"name,symptom\nflu,fever;cough\nx,y\n", made)
    with bar("read", 1) as progress:
        list(read_table(place.file(".csv", rows), table, progress))


def load_triples(place: Place, kind: str, made: list[Change]) -> None:
    """Load a damaged file of triples into a graph of its own."""
    path = place.file(kind, changed(TRIPLES[kind], made))
    load_graph(place.database, [path], "fuzz-bad", keep_going=True, embed=False)


def read_question_files(place: Place, kind: str, made: list[Change]) -> None:
    """Read a damaged file of questions, of gold answers and of a run."""
    path = place.file(kind, changed(samples()[kind], made))
    for reader in (read_questions, read_asked, read_rows):
        with contextlib.suppress(KgpError):
            reader(path)


def ask_corpus(place: Place, question: str) -> None:
    """Ask the good corpus, offline."""
    place.corpus.ask(question)


def ask_with_model(place: Place, question: str, said: str) -> None:
    """Ask the good corpus with a model that replies anything."""
    place.corpus.ask(question, model=Model(said), rerank="llm")


def ask_the_graph(place: Place, question: str, said: str | None) -> None:
    """Ask the good graph, offline or with a model that replies anything."""
    write = None if said is None else lambda prompt: said
    ask_graph(place.database, GRAPH, question, write=write)


def read_replies(place: Place, said: str) -> None:
    """Parse a reply in every form that one is read in."""
    corpus_reply.parse_reply(said, "short")
    corpus_reply.parse_reply(said, "long")
    map_reply.parse_reply(said)


def configure(place: Place, made: list[Change], variable: str, value: str) -> None:
    """Read a damaged file of settings, and a variable of the environment with anything in it."""
    path = place.file(".toml", changed(CONFIGURATION, made))
    with contextlib.suppress(KgpError):
        read_configuration({"KGP_NEO4J_CONFIG": str(path)}, place.folder)
    read_configuration({variable: value}, place.folder)


def call_tool(place: Place, tool: str, arguments: dict[str, Any]) -> None:
    """Call a tool of the MCP server; the protocol's own error is an answer too."""
    from mcp.server.mcpserver.exceptions import MCPServerError

    with contextlib.suppress(MCPServerError):
        asyncio.run(place.server.call_tool(tool, arguments))


def call_procedure(place: Place, name: str, arguments: list[Any], options: dict[str, Any]) -> None:
    """Call a procedure as a user of Browser would, who may give it anything."""
    called = statement(name)
    given_ = {
        each.name: options if each.name == "configuration" else arguments.pop()
        for each in called.inputs
    }
    text = f"CALL custom.{called.name}({', '.join(f'${each}' for each in given_)})"
    with contextlib.suppress(ClientError), place.database.driver.session() as session:
        try:
            list(session.run(Query(text, timeout=SECONDS), given_))
        except DatabaseError as error:
            # What the procedures themselves refuse; a ClientError is the server's own refusal.
            if "apoc.util.validate" not in (error.message or ""):
                raise


def import_file(place: Place, kind: str, member: str, made: list[Change], sealed: bool) -> None:
    """Import a damaged file, the sums of its damaged part made right where it is sealed."""
    with zipfile.ZipFile(io.BytesIO(place.exports[kind])) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    parts[member] = changed(parts[member], made)
    if sealed and member != "manifest.json":
        manifest = json.loads(parts["manifest.json"])
        lines = parts[member].count(b"\n")
        manifest["parts"][member] |= {
            "lines": lines, "sha256": hashlib.sha256(parts[member]).hexdigest()
        }  # fmt: skip
        parts["manifest.json"] = json.dumps(manifest).encode()
    path = place.folder / "input.kgp"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    if kind == "corpus":
        import_corpus(place.database, path, name=BAD, replace=True)
    else:
        import_graph(place.database, path, name="fuzz-bad", replace=True)


def send_request(
    place: Place, who: str, call: tuple[str, str], name: str, query: dict[str, str],
    headers: list[tuple[str, str]], body: bytes,
) -> None:  # fmt: skip
    """Send a request to the service; one that fails is not the sender's fault."""
    client = place.client
    method, path = call
    given_ = [(key, value.encode(errors="replace")) for key, value in headers]
    given_.append(("authorization", f"Bearer {place.tokens[who]}".encode()))
    if all(key != "content-type" for key, _ in headers):
        given_.append(("content-type", b"application/json"))
    in_path = quote(_encoded(name))
    asked = urlencode({key: _encoded(value) for key, value in query.items()})
    where = f"{path.replace('{name}', in_path).replace('{id}', in_path)}?{asked}"
    answer = client.request(method, where, content=body, headers=given_)
    if answer.status_code >= 500:
        raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text[:1000]}")


class Target(NamedTuple):
    """What is done with inputs, how they are made, and the share of all inputs that it gets."""

    do: Callable[..., None]
    inputs: dict[str, st.SearchStrategy[Any]]
    share: int


_file_kinds = st.deferred(lambda: st.sampled_from(sorted(samples())))
_tables = st.sampled_from(sorted(TRIPLES))
_NAMES = "question corpus graph names hops limit passages seeds budget x"
_arguments = st.dictionaries(st.sampled_from(_NAMES.split()), values, max_size=5)
_PROCEDURES = [s.path for s in folder("procedures") if s.inputs]
_words = st.one_of(texts, st.sampled_from((CORPUS, BAD, GRAPH, "Hesk Bridge", "1", "true", "..")))
_fields = "question corpus graph method budget stream trace type name connect limit hops".split()
_bodies = st.one_of(
    st.dictionaries(st.sampled_from(_fields), st.one_of(_words, values), max_size=5)
    .map(json.dumps).map(str.encode),
    texts.map(lambda said: json.dumps({"question": said, "corpus": CORPUS}).encode()),
    st.builds(
        lambda field, value, other, made: changed(
            json.dumps({"question": value, "corpus": CORPUS, field: other}).encode(), made
        ),
        st.sampled_from(_fields),
        texts,
        _words | values,
        st.just([]) | changes,
    ),
    st.sampled_from(LONG).map(_encoded),
    st.binary(max_size=200),
)  # fmt: skip
_calls = st.deferred(lambda: st.sampled_from(_known_calls()))


@cache
def _known_calls() -> list[tuple[str, str]]:
    from kgp_neo4j.serve.app import CALLS

    paths = [(told.method, told.path) for told, _ in CALLS]
    return [
        *paths,
        ("POST", "/mcp"),
        ("GET", "/static/{name}"),
        ("PUT", "/ask"),
        ("GET", "/{name}"),
    ]


_replies = st.one_of(
    texts,
    st.sampled_from(LONG),
    values.map(lambda value: json.dumps(value)),
    st.lists(
        st.one_of(
            st.sampled_from(
                ("Answer: ", "[1]", "[99]", "\n", "flu -> has symptom -> fever", "A: ", "{", "}")
            ),
            texts,
        )
    ).map("".join),
)
TARGETS = {
    "documents": Target(read_document, {"kind": _file_kinds, "made": changes}, 40),
    "loads": Target(load_document, {"kind": _file_kinds, "made": changes}, 1),
    "triples": Target(read_triple_file, {"kind": _tables, "made": changes}, 15),
    "mappings": Target(read_mapped, {"mapping": changes, "made": changes}, 5),
    "graphs": Target(load_triples, {"kind": _tables, "made": changes}, 1),
    "questions": Target(
        read_question_files, {"kind": st.sampled_from((".jsonl", ".json")), "made": changes}, 10
    ),
    "asked": Target(ask_corpus, {"question": _replies}, 2),
    "models": Target(ask_with_model, {"question": texts, "said": _replies}, 1),
    "mind maps": Target(ask_the_graph, {"question": texts, "said": st.none() | _replies}, 2),
    "replies": Target(read_replies, {"said": _replies}, 15),
    "settings": Target(
        configure,
        {
            "made": changes,
            "variable": st.sampled_from(("NEO4J_URI", "KGP_NEO4J_CORPUS", "KGP_NEO4J_LLM_TIMEOUT")),
            "value": texts,
        },
        3,
    ),
    "tools": Target(
        call_tool,
        {
            "tool": st.sampled_from(("corpora", "ask", "retrieve", "explore", "mind_map", "none")),
            "arguments": _arguments,
        },
        3,
    ),
    "imports": Target(
        import_file,
        {
            "kind": st.sampled_from(("corpus", "graph")),
            "member": st.sampled_from(("nodes.jsonl", "relationships.jsonl", "manifest.json")),
            "made": changes,
            "sealed": st.booleans(),
        },
        5,
    ),
    "requests": Target(
        send_request,
        {
            "who": st.sampled_from(("reader", "reader", "writer", "nobody")),
            "call": _calls,
            "name": _words,
            "query": st.dictionaries(st.sampled_from(_fields), _words, max_size=3),
            "headers": st.lists(
                st.tuples(
                    st.sampled_from(
                        ("accept", "content-type", "content-length", "origin", "range", "host")
                    ),
                    _words,
                ),
                max_size=2,
            ),
            "body": _bodies,
        },
        10,
    ),
    "procedures": Target(
        call_procedure,
        {
            "name": st.sampled_from(_PROCEDURES),
            "arguments": st.lists(values, min_size=3, max_size=3),
            "options": _arguments,
        },
        2,
    ),
}


# --- The run --------------------------------------------------------------------------------------


def run_batch(name: str, number: int, count: int, report: Any, coverage: bool) -> None:
    """Give a target one batch of inputs; report each beginning, and what failed, to the parent."""
    place, target = Place(open_database()), TARGETS[name]
    place.clear()
    done = 0

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(**target.inputs)
    def once(**input_: Any) -> None:
        nonlocal done
        done += 1
        report.send(("began", done, None))
        try:
            target.do(place, **input_)
        except KgpError as error:
            str(error)
        except Exception:
            made = {key: repr(value)[:2000] for key, value in input_.items()}
            report.send(("failed", done, {"error": traceback.format_exc()[-3000:], "input": made}))

    def is_over() -> bool:
        if done >= count:
            report.send(("ended", done, None))
        return done >= count

    if coverage:
        guide(once.hypothesis.fuzz_one_input, number, is_over)  # type: ignore[attr-defined]
    once()
    report.send(("ended", done, None))


def guide(test: Callable[[bytes], object], number: int, is_over: Callable[[], bool]) -> None:
    """Let Atheris choose inputs by what they reach in the package's own code; ends the process."""
    import atheris  # type: ignore[import-not-found]

    for each in gc.get_objects():
        if isinstance(each, FunctionType) and (each.__module__ or "").startswith("kgp_neo4j"):
            atheris.instrument_func(each)

    def one(data: bytes) -> None:
        test(data)
        if is_over():
            shutil.rmtree(folder)
            # An exception would be a failure of the input to libFuzzer.
            os._exit(0)

    drawn = random.Random(number)
    folder = tempfile.mkdtemp()
    # It begins with random bytes, as Hypothesis makes nothing of few.
    for at in range(_FIRST):
        (Path(folder) / str(at)).write_bytes(drawn.randbytes(2 << (3 + at % 10)))
    options = (f"-seed={number}", f"-max_len={2 << 12}", "-len_control=0")
    atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=0", "-timeout=3600", folder], one)
    atheris.Fuzz()


def watch(name: str, number: int, count: int, coverage: bool) -> tuple[int, list[dict[str, Any]]]:
    """Run a batch in a process of its own; return the number of inputs and what failed.

    A batch that is stopped for taking too long goes on in another one, with another seed.
    """
    ours, theirs = multiprocessing.get_context("spawn").Pipe(duplex=False)
    worker = multiprocessing.get_context("spawn").Process(
        target=run_batch, args=(name, number, count, theirs, coverage)
    )
    worker.start()
    theirs.close()
    done, failed, base = 0, [], 0
    since = time.monotonic() + 60  # the models and the driver are loaded first
    try:
        while True:
            if ours.poll(0.5):
                what, done, told = ours.recv()
                if what == "ended":
                    break
                if what == "failed":
                    failed.append({"at": f"{name}:{number}:{done}", **told})
                since = time.monotonic()
            with contextlib.suppress(psutil.NoSuchProcess):
                held = psutil.Process(worker.pid).memory_info().rss
                base = base if base and done > 3 else held
                if held - base > GROWTH:
                    failed.append({"at": f"{name}:{number}:{done}", "error": "over 1 GB"})
                    break
            if time.monotonic() - since > SECONDS:
                failed.append({"at": f"{name}:{number}:{done}", "error": SLOW})
                break
    except EOFError:
        failed.append({"at": f"{name}:{number}:{done}", "error": "the process died"})
    worker.kill()
    worker.join()
    return done, failed


def main() -> None:
    """Run the targets in turn until each has had its share; print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inputs", type=common.positive, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="of the first batch")
    parser.add_argument("--only", choices=sorted(TARGETS), action="append")
    parser.add_argument("--coverage", action="store_true", help="let Atheris choose the inputs")
    parser.add_argument("--log", type=Path, help="gets a line for each input that failed")
    given_ = parser.parse_args()
    place = Place(open_database())
    place.prepare()
    before = place.held()
    names = given_.only or list(TARGETS)
    whole = sum(TARGETS[name].share for name in names)
    counted: Counter[str] = Counter()
    wrong: list[dict[str, Any]] = []
    for name in names:
        most = max(1, round(given_.inputs * TARGETS[name].share / whole))
        number = given_.seed
        while counted[name] < most:
            count = min(BATCH, most - counted[name])
            done, failed = watch(name, number, count, given_.coverage)
            if any(each["error"] == SLOW for each in failed):
                # A busy machine stalls at times; an input that hangs does so again.
                common.say(f"{failed[-1]['at']}: {SLOW}; the batch is run again")
                done, failed = watch(name, number, count, given_.coverage)
            counted[name] += done
            number += 1
            if place.held() != before:
                failed.append({"at": f"{name}:{number}", "error": "the good corpus has changed"})
            wrong += failed
            if given_.log and failed:
                with given_.log.open("a") as log:
                    log.writelines(json.dumps(each) + "\n" for each in failed)
    print(f"{common.described()}\n\n| target | inputs | failed |\n|---|---|---|")
    for name in names:
        bad = sum(each["at"].startswith(f"{name}:") for each in wrong)
        print(f"| {name} | {counted[name]:,} | {bad} |")
    for each in wrong[:5]:
        print(f"\n{each['at']}: {each['error']}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
