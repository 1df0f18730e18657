"""Give a corpus to Graph Data Science: passages and edges as an in-memory graph, and a client."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import CapabilityError, CorpusError
from kgp_neo4j.types.settings import EDGES, TraversalSettings

if TYPE_CHECKING:
    from graphdatascience import Graph, GraphDataScience

#: The share of the server's heap that GDS may take at the least, by its own estimate: it takes more
#: while it reads the graph, and a server whose heap is full ends.
_MOST_HEAP = 0.8


@contextmanager
def projected(
    database: Database, corpus: str, edges: Sequence[str]
) -> Iterator[tuple["GraphDataScience", "Graph"]]:
    """Project the passages of a corpus and the edges between them; drop the graph at the end.

    `edges` are the types that a traversal follows, all when empty. Raises ConfigurationError for
    another type or without the extra `gds`, CorpusError where there are no passages, and
    CapabilityError where the server has no Graph Data Science, or not enough memory for it.
    """
    chosen = TraversalSettings(edges=tuple(edges)).edges or EDGES
    with needs("gds", "the graph of Graph Data Science"):
        from graphdatascience import GraphDataScience
    # A unique name, so that several can be open at once.
    name = f"kgp-{uuid.uuid4().hex}"
    (needed,) = database.read("gds/graph_memory", corpus=corpus, edges=list(chosen))
    if needed["share"] > _MOST_HEAP:
        raise CapabilityError(
            f"the graph of the corpus {corpus!r} needs {needed['least'] / 2**30:,.1f} GiB of the "
            f"server's heap, {100 * needed['share']:,.0f} % of all that it has",
            hint="Give the server more memory (`kgp-neo4j server stop`, then `server start "
            "--memory SIZE`; a server of your own: server.memory.heap.max_size).",
        )
    try:
        (made,) = database.read("gds/project", graph=name, corpus=corpus, edges=list(chosen))
        if not made["nodes"]:
            raise CorpusError(
                f"there are no passages in a corpus named {corpus!r}",
                hint="`kgp-neo4j corpora` lists the corpora; `kgp-neo4j load` fills one.",
            )
        client = GraphDataScience(
            database.driver, database=database.connection.database, arrow=False, show_progress=False
        )
        yield client, client.graph.get(name)
    finally:
        database.read("gds/drop", graph=name)
