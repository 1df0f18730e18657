"""What `connect` makes of a corpus, and a database that counts what it writes and may fail."""

from collections.abc import Callable, Mapping
from typing import Any

from graphs import rows

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import Statement
from kgp_neo4j.types.errors import DatabaseError


def _fail() -> None:
    raise DatabaseError("the server does not answer")


class Watched(Database):
    """A real database that counts the rows of statements; at a run of one of them it fails."""

    def __init__(
        self,
        database: Database,
        failing: str = "",
        run: int = 1,
        happens: Callable[[], object] = _fail,
    ) -> None:
        super().__init__(database.connection)
        self.rows: dict[str, int] = {}
        self._failing, self._runs, self._happens = failing, run, happens

    def write(self, path: str, **values: Any) -> list[dict[str, Any]]:
        self._count(path, values)
        return super().write(path, **values)

    def write_in_batches(self, path: str, **values: Any) -> dict[str, Any]:
        self._count(path, values)
        return super().write_in_batches(path, **values)

    def define(self, query: Statement, **values: Any) -> None:
        path = query.path.removeprefix("cypher/").removesuffix(".cypher")
        self._count(path, values)
        super().define(query, **values)

    def _count(self, path: str, values: Mapping[str, Any]) -> None:
        if path == self._failing:
            self._runs -= 1
            if self._runs < 1:
                self._happens()
        self.rows[path] = self.rows.get(path, 0) + len(values.get("rows", ()))


def connected_graph(database: Database, corpus: str) -> dict[str, dict[tuple[Any, ...], Any]]:
    """Return everything that `connect` makes, each with its weights."""

    def found(match: str, identity: str, weights: str) -> dict[tuple[Any, ...], Any]:
        query = f"MATCH {match} RETURN [{identity}] AS identity, [{weights}] AS weights"
        made = rows(database, query, c=corpus)
        kept = {repr(row["identity"]): row["weights"] for row in made}
        assert len(kept) == len(made)
        return kept

    passage = "(p:Passage {corpus: $c})"
    shared = "CASE WHEN {e}.namesTitle OR p.id < q.id THEN [p.id, q.id] ELSE [q.id, p.id] END"
    return {
        "keywords": found(
            "(k:Keyword {corpus: $c})", "k.text, k.documentFrequency, k.named, k.title", ""
        ),
        "entities": found("(e:NamedEntity {corpus: $c})", "e.name, e.title, e.type", ""),
        "links": found(f"{passage}-[h:HAS_KEYWORD]->(k)", "p.id, k.text, h.owned", "h.tfidf"),
        "mentions": found(
            f"{passage}-[m:MENTIONS]->(e)",
            "p.id, coalesce(e.id, e.name), m.surface, m.start, m.offsets",
            "m.commonness, m.coherence, m.score",
        ),
        **{
            kind: found(
                f"{passage}-[e:{kind}]->(q)",
                f"{shared.format(e='e')}, e.namesTitle, e.count, "
                "COLLECT { UNWIND coalesce(e.keywords, e.entities) AS n RETURN n ORDER BY n }",
                "e.weight",
            )
            for kind in ("SHARES_KEYWORD", "SHARES_ENTITY")
        },
        "SIMILAR_ST": found(f"{passage}-[e:SIMILAR_ST]->(q)", "p.id, q.id", "e.score"),
    }
