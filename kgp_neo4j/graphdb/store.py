"""The base class of Corpus and KnowledgeGraph: a name in a database that is opened on first use."""

from typing import Self

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.open import open_database


class Store:
    """A named corpus or graph in a `database`, or in the one that is opened on first use."""

    def __init__(self, name: str, *, database: Database | None = None) -> None:
        self.name = name
        self._database = database
        self._is_given = database is not None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def database(self) -> Database:
        """The database that the store is in."""
        if self._database is None:
            self._database = open_database()
        return self._database

    def close(self) -> None:
        """Close the connection to the database, unless it was given."""
        if self._database is not None and not self._is_given:
            self._database.close()
            self._database = None
