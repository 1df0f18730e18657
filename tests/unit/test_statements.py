"""How a file of cypher/ is read: its header, what it includes, and errors that name the file."""

from pathlib import Path

import pytest
from graphs import write_file

from kgp_neo4j.graphdb import statements
from kgp_neo4j.types.errors import QueryFileError

_HEADER = """\
// kgp.find(corpus :: STRING, configuration = {} :: MAP) :: (id :: STRING)
// Finds something.
// mode: READ
// option: limit = 10 :: INT (1 to 50), how many at most
// option: edges = [] :: LIST OF STRING, which to follow
"""
_BODY = """\
  // include: corpus
RETURN c.id AS id, $configuration.edges AS edges LIMIT $configuration.limit
"""
_CORPUS = """\
// Leaves the corpus as `c`.
MATCH (c:Corpus {name: $corpus})
// include: scope
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for cypher/, with one statement and what it includes."""
    for name, text in (
        ("procedures/find", _HEADER + _BODY),
        ("include/corpus", _CORPUS),
        ("include/scope", "// A condition.\nWHERE c.scope <> ''\n"),
    ):
        write_file(tmp_path / f"{name}.cypher", text)
    monkeypatch.setattr(statements.resources, "files", lambda _: tmp_path)
    # `statement` keeps what it has read, under the names of the real files.
    monkeypatch.setattr(statements, "statement", statements.statement.__wrapped__)
    return tmp_path


def _read(place: Path, **files: str) -> statements.Statement:
    for name, text in files.items():
        (place / f"{name.replace('_', '/')}.cypher").write_text(text, encoding="utf-8")
    return statements.statement("procedures/find")


def test_what_is_included_stands_in_the_text(place: Path) -> None:
    made = _read(place)
    assert made.text == _HEADER + (
        "  MATCH (c:Corpus {name: $corpus})\n"
        "  WHERE c.scope <> ''\n"
        "RETURN c.id AS id, coalesce($configuration.edges, []) AS edges "
        "LIMIT coalesce($configuration.limit, 10)"
    )
    assert made.documentation == (
        "Finds something. Configuration: limit (10; 1 to 50), how many at most; "
        "edges ([]), which to follow."
    )


def test_options_are_included_as_a_map(place: Path) -> None:
    made = _read(place, include_scope="// A check.\nWITH c,\n  // include: options\n  AS options\n")
    assert (
        "    {limit: {type: 'INTEGER', said: 'INT', low: 1, high: 50}, "
        "edges: {type: 'LIST<(STRING|NOTHING)', said: 'LIST OF STRING'}}\n"
    ) in made.text


def test_options_are_given_by_name_or_together(place: Path) -> None:
    made = _read(place)
    assert made.bind({"corpus": "x"}) == {"corpus": "x", "configuration": {}}
    given = {"corpus": "x", "limit": 3, "configuration": {"edges": ["NEXT"]}}
    assert made.bind(given)["configuration"] == {"limit": 3, "edges": ["NEXT"]}
    assert given["configuration"] == {"edges": ["NEXT"]}
    with pytest.raises(QueryFileError, match="no parameter named limits"):
        made.bind({"corpus": "x", "limits": 3})
    with pytest.raises(QueryFileError, match="no value and no default for corpus"):
        made.bind({})


@pytest.mark.parametrize(
    ("name", "text", "where", "said"),
    [
        ("procedures_find", "MATCH (n)", "procedures/find", "the header is no signature"),
        ("procedures_find", _HEADER + "// include: no\n", "include/no", "no such statement"),
        (
            "procedures_find",
            _HEADER.replace("(1 to 50)", "1 to 50") + _BODY,
            "procedures/find",
            "cannot read 'limit = 10",
        ),
    ],
)
def test_errors_name_the_file(place: Path, name: str, text: str, where: str, said: str) -> None:
    with pytest.raises(QueryFileError, match=said) as caught:
        _read(place, **{name: text})
    assert caught.value.where == f"cypher/{where}.cypher"


@pytest.mark.parametrize(
    ("literal", "value"),
    [("'st'", "st"), ("''", ""), ("[]", []), ("0.5", 0.5), ("true", True), ("null", None)],
)
def test_what_is_not_given_has_its_default(place: Path, literal: str, value: object) -> None:
    head = _HEADER.replace("corpus :: STRING", f"corpus = {literal} :: ANY")
    made = _read(place, procedures_find=head + _BODY)
    assert made.bind({}) == {"corpus": value, "configuration": {}}
    assert made.bind({"corpus": 1, "limit": 2}) == {"corpus": 1, "configuration": {"limit": 2}}


def test_a_schema_has_several_statements(place: Path) -> None:
    text = "// schema.find() :: ()\n// Keys.\n// mode: SCHEMA\n\n// One.\nCREATE A;\nCREATE\n B;\n"
    first, second = _read(place, procedures_find=text).labelled({})
    assert first.endswith("// One.\nCREATE A")
    assert second == "CREATE\n B"


def test_a_label_is_put_in_only_where_it_is_one_word() -> None:
    made = statements.statement("load/vector_index")
    (text,) = made.labelled({"label": "C0ffeePassage"})
    assert "FOR (p:C0ffeePassage)" in text
    for label in ("", "P) ON (p.x) //", "P`", "ÄPassage", "1P", "P\n"):
        with pytest.raises(QueryFileError, match="is no label"):
            made.labelled({"label": label})
