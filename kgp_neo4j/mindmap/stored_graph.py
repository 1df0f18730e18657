"""A knowledge graph in the database, as linking, exploration and answers read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.mindmap.load.graphs import graphs, no_graph
from kgp_neo4j.models.encoder import Encoder, embed, load_encoder


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A knowledge graph: its relationship types, and its encoder's name where it is embedded."""

    database: Database
    name: str
    encoder_name: str | None
    relations: tuple[str, ...]

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the graph's embeddings, if it has any."""
        return load_encoder(self.encoder_name) if self.encoder_name else None

    def read(self, path: str, **values: Any) -> list[Row]:
        """Run a statement on this graph; nodes come as maps, relationships as triples."""
        return self.database.read_packed(path, graph=self.name, **values)

    def similarity(self, texts: Sequence[str], others: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosines of texts, (texts, others); all are 0 for a graph without encoder."""
        encoder = self.encoder
        if encoder is None or not texts or not others:
            return np.zeros((len(texts), len(others)), np.float32)
        return np.asarray(embed(encoder, texts) @ embed(encoder, others).T)


def open_graph(database: Database, name: str) -> StoredGraph:
    """Return a knowledge graph; raises GraphError where there is none of this name."""
    rows = database.read("explore/graph", graph=name)
    if not rows:
        raise no_graph(name, graphs(database))
    return StoredGraph(database, name, rows[0]["encoder"], tuple(rows[0]["relations"]))
