"""What only Neo4j Enterprise has: refused in words on Community, by statements that it knows."""

from __future__ import annotations

import dataclasses

import pytest

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.enterprise import create_database, create_roles
from kgp_neo4j.graphdb.statements import Statement, folder, statement
from kgp_neo4j.types.errors import CapabilityError, DatabaseError

_STATEMENTS = [
    statement("enterprise/create_database"),
    statement("enterprise/create_role"),
    *folder("enterprise/reader"),
    *folder("enterprise/writer"),
]


def test_community_has_neither(database: Database) -> None:
    other = dataclasses.replace(database.connection, database="law")
    with pytest.raises(CapabilityError, match="one database and no roles"):
        create_database(other)
    with pytest.raises(CapabilityError, match="one database and no roles"):
        create_roles(database)


@pytest.mark.parametrize("query", _STATEMENTS, ids=lambda query: query.name)
def test_the_server_can_parse_each_statement(database: Database, query: Statement) -> None:
    values = {parameter.name: "law" for parameter in query.inputs}
    # It is refused for the edition, which is looked at once the statement has been parsed.
    with pytest.raises(CapabilityError):
        database.define(query, values, system=True)
    misspelt = dataclasses.replace(query, text=query.text.replace(" $", " OF $", 1))
    with pytest.raises(DatabaseError, match="Invalid input"):
        database.define(misspelt, values, system=True)
