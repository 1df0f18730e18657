"""How a file of cypher/ is read: its head, what it includes, and errors that name file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgp_neo4j.graphdb import statements
from kgp_neo4j.types.errors import QueryFileError

_HEAD = """\
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
        ("procedures/find", _HEAD + _BODY),
        ("include/corpus", _CORPUS),
        ("include/scope", "// A condition.\nWHERE c.scope <> ''\n"),
    ):
        file = tmp_path / f"{name}.cypher"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
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
    assert made.text == _HEAD + (
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


@pytest.mark.parametrize(
    ("name", "text", "where", "said"),
    [
        ("procedures_find", "MATCH (n)", "procedures/find.cypher:1", "is not a signature"),
        (
            "procedures_find",
            _HEAD + "// include: corpse\n" + _BODY,
            "procedures/find.cypher:6",
            "there is no cypher/include/corpse.cypher to include",
        ),
        (
            "include_corpus",
            _CORPUS.replace("scope", "scopes"),
            "include/corpus.cypher:3",
            "there is no cypher/include/scopes.cypher to include",
        ),
        ("include_scope", "// include: corpus", "include/scope.cypher:1", "corpus includes itself"),
        (
            "include_scope",
            "// A condition.\nWHERE c.scope = $scope",
            "include/scope.cypher:2",
            r"declared and used parameters differ: \$scope",
        ),
        (
            "procedures_find",
            _HEAD + _BODY.replace(".limit", ".most"),
            "procedures/find.cypher:7",
            r"differ: \$configuration\.limit, \$configuration\.most",
        ),
        (
            "procedures_find",
            _HEAD.replace("(1 to 50)", "1 to 50") + _BODY,
            "procedures/find.cypher:4",
            "cannot read the option",
        ),
    ],
)
def test_errors_name_file_and_line(
    place: Path, name: str, text: str, where: str, said: str
) -> None:
    with pytest.raises(QueryFileError, match=said) as caught:
        _read(place, **{name: text})
    assert caught.value.where == f"cypher/{where}"


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'st'", "st"),
        ("''", ""),
        ("[]", []),
        ("{}", {}),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
    ],
)
def test_what_is_not_given_has_its_default(place: Path, literal: str, value: object) -> None:
    head = _HEAD.replace("corpus :: STRING", f"corpus = {literal} :: ANY")
    made = _read(place, procedures_find=head + _BODY)
    assert made.bind({}) == {"corpus": value, "configuration": {}}
    assert made.bind({"corpus": 1, "limit": 2}) == {"corpus": 1, "configuration": {"limit": 2}}
