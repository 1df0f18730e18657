"""Attacks that comparable systems were open to, each tried here; what none of them may do.

The sources are public: advisories, and threads of the projects named.
"""

import base64
import hashlib
import io
import json
import re
from pathlib import Path

import docx
import pytest
from graphs import rows, write_file, write_lines
from small_kg import load_triples
from zips import pack, unpack

import kgp_neo4j
from kgp_neo4j import Corpus, Database
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.load.graphs import adopt_graph, delete_graph, load_graph
from kgp_neo4j.types.errors import ConfigurationError

#: Ways out of a quoted name, of a string and of a pattern. A tab before the backtick, and the
#: backtick as an escape, got past checks that looked for the backtick alone.
_WAYS_OUT = (
    "X`) DETACH DELETE n //",
    "X\t`) DETACH DELETE n //",
    "X\\u0060) DETACH DELETE n //",
    "X``) DETACH DELETE n //",
    "x'}) MATCH (n) DETACH DELETE n //",
    'x"}) MATCH (n) DETACH DELETE n //',
    "User)--(n) DETACH DELETE n RETURN n//",
    "a: 1} OR 1 = 1 //",
    "$(x)",
)


def _count(database: Database) -> int:
    (row,) = rows(database, "MATCH (n) RETURN count(n) AS count")
    return int(row["count"])


@pytest.mark.alone
def test_names_of_relations_and_types_are_only_names(database: Database, tmp_path: Path) -> None:
    """Labels and types that came from data closed the quoted name that they were put into.

    graphiti CVE-2026-32247 (pull request 1312), awslabs/graphrag-toolkit pull request 328.
    """
    graph = "test-attacks"
    triples = [{"head": f"head {way}", "relation": way, "tail": f"tail {way}"} for way in _WAYS_OUT]
    path = write_lines(tmp_path / "t.jsonl", *triples)
    before = _count(database)
    try:
        types = dict.fromkeys(_WAYS_OUT, ("Disease", "Symptom"))
        report = load_graph(database, [path], graph, types=types, embed=False, keep_going=True)
        # A name is kept as it is, or its line is refused.
        assert set(report.relations) < set(_WAYS_OUT)
        assert report.relationships + len(report.errors) == len(_WAYS_OUT)
        assert report.relationships > len(report.errors)
        for way in report.relations:
            made = ask_graph(database, graph, f"What is {way} of head {way}?")
            assert made.text
    finally:
        delete_graph(database, graph)
    assert _count(database) == before


@pytest.mark.parametrize("way", _WAYS_OUT)
def test_labels_and_properties_are_looked_up_before_use(database: Database, way: str) -> None:
    """Keys of filters were put into the query as text while their values were parameters.

    Spring AI CVE-2026-22743, MemTensor/MemOS issue 2205.
    """
    with pytest.raises(ConfigurationError, match="among its labels"):
        adopt_graph(database, "test-attacks", labels=[way], name_property="name")
    with pytest.raises(ConfigurationError, match="among its properties"):
        adopt_graph(database, "test-attacks", labels=["Corpus"], name_property=way)


def test_a_question_is_searched_for_and_nothing_else(
    database: Database, corpus: str, other_corpus: str, tmp_path: Path
) -> None:
    """Lucene's operators in a question reached documents of others, or broke the search."""
    mine, other = (Corpus(name, database=database) for name in (corpus, other_corpus))
    operators = (
        "scope:* OR text:*",
        "* AND NOT (a) +b -c && d || !e [a TO z] {x TO *} ~2 ^9 /.*/ \\",
        '"unclosed AND (',
    )
    for made, text in ((mine, "The ferry sank."), (other, "The password is hunter2, x y z.")):
        made.load([write_file(tmp_path / "d.txt", text)])
        made.connect()
    for question in (*_WAYS_OUT, *operators):
        answer = mine.ask(question)
        assert "hunter2" not in answer.text
        assert {passage.text for passage in answer.passages} <= {"The ferry sank."}
    assert len(other.passages()) == 1


def _word(template: str = "", doctype: str = "") -> bytes:
    """A Word file whose template lies at an address, or with a document type and its entities."""
    made = docx.Document()
    made.add_paragraph("The ferry sank. ENTITIES")
    if template:
        relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        made.part.relate_to(template, f"{relation}/attachedTemplate", is_external=True)
    made.save(plain := io.BytesIO())
    parts = unpack(plain.getvalue())
    if doctype:
        body = parts["word/document.xml"].replace(b"?>", f"?>{doctype}".encode(), 1)
        parts["word/document.xml"] = body.replace(b"ENTITIES", b"&a;&b;")
    return pack(parts)


def test_no_document_makes_us_ask_an_address_or_read_a_file(
    database: Database, corpus: str, address: tuple[str, list[bytes]], tmp_path: Path
) -> None:
    """Pictures, entities and frames of documents were fetched by the server that read them.

    infiniflow/ragflow issues 15214 (pictures in Markdown), 14088 (addresses) and 12037 (XML
    entities, CVE-2025-66516).
    """
    url, asked = address
    secret = write_file(tmp_path / "secret.txt", "hunter2")
    entities = f'<!DOCTYPE x [<!ENTITY a SYSTEM "file://{secret}"><!ENTITY b SYSTEM "{url}">]>'
    html = (
        f'<p>The ferry sank.<img src="{url}"><iframe src="{url}"></iframe><link rel=stylesheet '
        f'href="{url}"><object data="file://{secret}"></object><script src="{url}"></script>'
    )
    documents = {
        "a.md": f"The ferry sank.\n\n![x]({url})\n\n<img src='{url}'>\n\n[b](file://{secret})\n",
        "b.html": html,
        "c.html": f"{entities}<p>The ferry sank. &a; &b;",
        "d.csv": f'name,picture\nferry,"=WEBSERVICE(""{url}"")"\n',
        "e.json": json.dumps([{"title": "x", "text": "The ferry sank.", "$ref": url}]),
        "f.docx": _word(template=url),
        "g.docx": _word(doctype=entities),
    }
    for name, text in documents.items():
        write_file(tmp_path / "documents" / name, text)
    made = Corpus(corpus, database=database)
    report = made.load([tmp_path / "documents"])
    assert report.documents >= 5
    assert "hunter2" not in repr(made.passages())
    assert asked == []


def test_nothing_is_evaluated_or_unpickled() -> None:
    """Replies were passed to `eval` (HippoRAG), and weights were pickles: no call here does so."""
    forbidden = re.compile(
        r"(?<![\w.])(?:eval|exec|compile|__import__)\(|\bos\.(?:system|popen)\b|\bgetoutput\b"
        r"|\bgetstatusoutput\b|\bshell=|\btorch\.load\("
        r"|^\s*(?:import|from) (?:pickle|cPickle|dill|shelve|marshal|joblib|yaml|pty)\b",
        re.MULTILINE,
    )
    found = [
        f"{path.name}: {call[0]}"
        for path in sorted(Path(kgp_neo4j.__file__).parent.rglob("*.py"))
        for call in forbidden.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.alone
def test_a_reply_is_never_run(database: Database, tmp_path: Path) -> None:
    """What a model writes is text, also where it looks like Python, Cypher or a template."""
    mark = tmp_path / "ran"
    coded = base64.b64encode(f"open({str(mark)!r}, 'w')".encode()).decode()
    said = (
        f"__import__('os').system('touch {mark}')",
        f"[x for x in [open({str(mark)!r}, 'w')]]",
        f"```python\nexec(__import__('base64').b64decode('{coded}'))\n```",
        "MATCH (n) DETACH DELETE n",
        "{{ ''.__class__.__mro__ }}",
    )
    graph, asked = "test-attacks-reply", "What is a symptom of flu?"
    before = _count(database)
    try:
        load_triples(database, graph, tmp_path, [("flu", "has symptom", "fever")], embed=False)
        for reply in said:
            ask_graph(database, graph, asked, write=lambda _, r=reply, **options: r)
    finally:
        delete_graph(database, graph)
    assert not mark.exists()
    assert _count(database) == before


def test_the_models_that_the_package_brings_are_those_that_were_made() -> None:
    package = Path(kgp_neo4j.__file__).parent
    sums = (package / "models" / "models.sha256").read_text(encoding="ascii").splitlines()
    kept = {name: own for own, name in (line.split("  ") for line in sums)}
    brought = {path.relative_to(package).as_posix() for path in package.rglob("*.safetensors")}
    assert brought < set(kept)
    for name, own in kept.items():
        assert hashlib.sha256((package / name).read_bytes()).hexdigest() == own, name
