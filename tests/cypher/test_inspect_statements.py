"""cypher/inspect, install and schema; what holds for every file under cypher/, and its faults."""

import ast
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from graphs import rows, write_file
from small_graphs import keep_one

import kgp_neo4j
from kgp_neo4j.corpus.answer.traces import remove
from kgp_neo4j.graphdb import statements
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import LANGUAGE, Statement, folder
from kgp_neo4j.text.words import words
from kgp_neo4j.types.errors import QueryFileError

_FOLDERS = sorted(
    place.name
    for place in resources.files("kgp_neo4j.cypher").iterdir()
    if place.is_dir() and place.name != "include" and not place.name.startswith("_")
)
_FILES = [made for name in _FOLDERS for made in folder(name)]
_COMMENTS_AND_STRINGS = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL
)
_SAMPLES: dict[str, Any] = {
    "ANY": "x",
    "STRING": "x",
    "INT": 1,
    "FLOAT": 1.0,
    "BOOLEAN": True,
    "MAP": {},
    "LIST OF STRING": ["x"],
    "LIST OF FLOAT": [1.0],
    "LIST OF INT": [1],
    "LIST OF MAP": [],
    "LIST OF ANY": [],
}


def _path(made: Statement) -> str:
    return made.path.removeprefix("cypher/").removesuffix(".cypher")


@pytest.mark.newest
@pytest.mark.parametrize("made", _FILES, ids=_path)
def test_explain(database: Database, made: Statement) -> None:
    """Each plans, returns the columns it declares, and reads or writes as it says."""
    values = {p.name: _SAMPLES[p.type] for p in made.inputs}
    for text in made.labelled(values):
        with database.driver.session() as session:
            result = session.run(f"EXPLAIN {LANGUAGE}{text}", values)
            columns = result.keys()
            summary = result.consume()
        assert list(columns) == [column.name for column in made.outputs]
        assert made.mode != "READ" or "w" not in summary.query_type, f"{made.path} writes"
        assert not [
            status.status_description
            for status in summary.gql_status_objects
            if "deprecated" in status.status_description.lower()
        ]


@pytest.mark.parametrize("made", _FILES, ids=_path)
def test_header(made: Statement) -> None:
    assert made.name.count(".") == 1
    assert made.description.endswith(".")
    # Files of procedures are installed under `custom.` with the name on their first line.
    words = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", made.name.split(".")[1]).lower()
    assert words == Path(made.path).stem
    if made.path.startswith("cypher/procedures/"):
        assert made.name.startswith("kgp.")
        assert f"custom.{made.name}(" in made.example
    used = re.findall(r"\$(\w+)", _COMMENTS_AND_STRINGS.sub(" ", made.text))
    assert set(used) == {parameter.name for parameter in made.inputs}
    options = re.findall(r"\$configuration\.(\w+)", made.text)
    assert set(options) == {option.name for option in made.options}


def test_no_statement_uses_apoc() -> None:
    """It is not on every server, nor in every version."""
    cypher = Path(__file__).parents[2] / "cypher"
    files = list(cypher.rglob("*.cypher"))
    assert len(files) > 100
    assert [file.name for file in files if "apoc." in file.read_text("utf-8")] == []


def test_every_file_is_run() -> None:
    """No statement is left over: the package, a test or docs/procedures.md names each file."""
    package = Path(kgp_neo4j.__file__).parent
    named = {
        text.value
        for file in (*package.rglob("*.py"), *Path(__file__).parents[1].rglob("test_*.py"))
        for text in _strings(ast.parse(file.read_text(encoding="utf-8")))
    }
    files = {_path(file) for file in _FILES if file.mode != "SCHEMA"}
    apart = ("check/", "procedures/")
    assert {path for path in files - named if not path.startswith(apart)} == set()
    headers = "\n".join(made.text for made in folder("procedures"))
    checked = {
        name for line in re.findall("^// check: (.*)$", headers, re.M) for name in line.split(", ")
    }
    assert {f"check/{name}" for name in checked} == {p for p in files if p.startswith("check/")}


def test_words_are_cut_in_one_place(database: Database) -> None:
    """One include cuts text into words, as Python does; full-text search adds what dots join."""
    cypher = Path(__file__).parents[2] / "cypher"
    cutting = [f for f in cypher.rglob("*.cypher") if "normalize(text" in f.read_text("utf-8")]
    assert {file.name for file in cutting} == {
        "words.cypher",
        "search.cypher",
        "link_entities.cypher",  # which looks for the words where they stand
    }
    include = (cypher / "include" / "words.cypher").read_text("utf-8")
    for text in (
        "The 1889 report's naïve Ærø, 東京タワー and 한국어 é; e-mail_x 12.5% ー〆 हिन्दी",
        "x😀y 𠀀𠀁a 𝐀𝐁 İstanbul ½ e\u0301tude ﬁne ไทย العربية \t\n“quoted” a\u2028b",
        " ".join(f"x{chr(at)}y" for at in range(0xA0, 0x30FF, 123)),
        "",
    ):
        (row,) = rows(database, f"WITH $text AS text RETURN {include} AS words", text=text)
        assert row["words"] == [word.lower() for word in words(text)][:200]


_CLAUSE = re.compile(r"\b(?:MATCH|MERGE|CREATE|DELETE|UNWIND|RETURN|YIELD|CALL|REMOVE|DROP|WITH)\b")


#: What messages tell the user to type in Browser.
_ADVICE = "CALL custom.kgp.help()"
#: Words of SQL alone: the replies of language models are kept in a file of SQLite.
_SQL = re.compile(r"\b(?:TABLE|FROM|INTO)\b")


def test_no_cypher_in_python() -> None:
    found = [
        f"{file.name}:{node.lineno}: {node.value!r}"
        for file in sorted(Path(kgp_neo4j.__file__).parent.rglob("*.py"))
        for node in _strings(ast.parse(file.read_text(encoding="utf-8")))
        if _CLAUSE.search(node.value.replace(_ADVICE, ""))
        and not _SQL.search(node.value)
        and node.value != "DELETE"  # a method of HTTP
    ]
    assert found == []


def _strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the string constants of a module that are not docstrings."""
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, described) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            yield node


def test_a_property_has_one_type(database: Database, demo_corpus: str, demo_graph: str) -> None:
    """On every label and relationship type; of an empty list no type is known."""
    kept = keep_one(database, demo_corpus)
    found = rows(
        database,
        """
        MATCH (n)
        WHERE $demo IN [n.corpus, n.graph] OR (n.name = $demo AND (n:Corpus OR n:KnowledgeGraph))
        CALL (n) {
          RETURN n AS held
          UNION
          MATCH (n)-[held]->()
          RETURN held
        }
        UNWIND keys(held) AS key
        WITH key, replace(valueType(held[key]), ' NOT NULL', '') AS type
        WHERE NOT type CONTAINS 'NOTHING'
        RETURN key, collect(DISTINCT type) AS types
        """,
        demo=demo_corpus,
    )
    remove(database, [kept])
    assert demo_graph == demo_corpus
    assert {row["key"] for row in found} >= {"header", "number", "label", "pages", "namesTitle"}
    assert [row for row in found if len(row["types"]) > 1] == []


def test_embedded(database: Database, corpus: str) -> None:
    rows(database, """
        CREATE (:Corpus {name: $c})-[:HAS_GRAPH]->(x:Graph {type: 'similarity', corpus: $c})
        SET x.encoder = 'any', x.dimension = 5
        CREATE (:Corpus {name: $c + '2'})
        WITH * UNWIND range(1, 3) AS n CREATE (:Passage {id: $c + n, corpus: $c})
        MERGE (g:KnowledgeGraph {name: $c}) SET g.encoder = 'any', g.dimension = 7
        CREATE (:Entity {id: $c + n, graph: $c})-[:OF]->(:Entity {id: $c + '/' + n, graph: $c})
    """, c=corpus)  # fmt: skip
    try:
        found = database.read("inspect/embedded")
        sizes = [row["embeddings"] for row in found]
        assert sizes == sorted(sizes, reverse=True)
        assert [row for row in found if row["name"].startswith(corpus)] == [
            {"name": corpus, "corpus": False, "embeddings": 6, "dimension": 7, "encoder": "any"},
            {"name": corpus, "corpus": True, "embeddings": 3, "dimension": 5, "encoder": "any"},
        ]
    finally:
        rows(database, """
            MATCH (n) WHERE $c IN [n.graph, n.corpus] OR n.name IN [$c, $c + '2']
            DETACH DELETE n
        """, c=corpus)  # fmt: skip


def test_schema(database: Database) -> None:
    """Every index and constraint that the files make is there, also where they are run again."""
    for made in folder("schema"):
        database.define(made)
    named = re.findall(r"(?:INDEX|CONSTRAINT) (kgp_\w+)", "".join(m.text for m in folder("schema")))
    found = rows(database, "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name")
    assert len(named) > 20
    assert set(named) <= {row["name"] for row in found}


_HEADER = """\
// kgp.find(corpus :: STRING, configuration = {} :: MAP) :: (id :: STRING)
// Finds something.
// mode: READ
// option: limit = 10 :: INT (1 to 50), how many at most
"""


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("MATCH (n)", "procedures/find", "the header is no signature"),
        (_HEADER + "// include: no\n", "include/no", "no such statement"),
        (_HEADER.replace("(1 to 50)", "1 to 50"), "procedures/find", "cannot read 'limit = 10"),
    ],
)
def test_errors_name_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, where: str, said: str
) -> None:
    write_file(tmp_path / "procedures" / "find.cypher", text)
    monkeypatch.setattr(statements.resources, "files", lambda _: tmp_path)
    # `statement` keeps what it has read, under the names of the real files.
    monkeypatch.setattr(statements, "statement", statements.statement.__wrapped__)
    with pytest.raises(QueryFileError, match=said) as caught:
        statements.statement("procedures/find")
    assert caught.value.where == f"cypher/{where}.cypher"


def test_a_label_is_put_in_only_where_it_is_one_word() -> None:
    made = statements.statement("load/vector_index")
    (text,) = made.labelled({"label": "C0ffeePassage"})
    assert "FOR (p:C0ffeePassage)" in text
    for label in ("", "P) ON (p.x) //", "P`", "ÄPassage", "1P", "P\n"):
        with pytest.raises(QueryFileError, match="is no label"):
            made.labelled({"label": label})
