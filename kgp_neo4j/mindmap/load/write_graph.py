"""Writes entities, relationships and embeddings into the database, a transaction for each batch."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.gather import Gathered
from kgp_neo4j.models.engine import token_id
from kgp_neo4j.types.errors import EncoderError, GraphError

if TYPE_CHECKING:
    from kgp_neo4j.models.encoder import Encoder

__all__ = ["embed_names", "write_graph"]

#: Rows of a transaction, and embeddings of one.
BATCH = 10_000
_EMBEDDED = 4_096


def write_graph(database: Database, gathered: Gathered, load: str) -> int:
    """Write the entities, and the relationships that are not stored yet; return their number.

    Stored entities get the aliases and labels that they lack. Each batch is committed on its own:
    loading again finishes a load that was interrupted. Raises GraphError once another load began.
    """
    graph = gathered.graph
    _write(database, "entities", gathered.entity_rows(), len(gathered.entities), graph, load)
    rows = database.read("load_kg/stored_relationships", graph=graph)
    stored = {id_ for row in rows for id_ in row["ids"]}
    new = (row for row in gathered.triple_rows() if row["id"] not in stored)
    return _write(database, "relationships", new, len(gathered.triples), graph, load)


def _write(
    database: Database,
    title: str,
    rows: Iterable[dict[str, Any]],
    count: int,
    graph: str,
    load: str,
) -> int:
    remaining, total = iter(rows), 0
    with bar(title, count) as progress:
        while batch := list(islice(remaining, BATCH)):
            (row,) = database.write(f"load_kg/{title}", graph=graph, load=load, rows=batch)
            if row["written"] != len(batch):
                raise GraphError(
                    "another load or deletion of this graph began meanwhile",
                    where=graph,
                    hint="Load again once it has ended.",
                )
            progress.update(len(batch))
            total += len(batch)
    return total


def embed_names(database: Database, graph: str, encoder: Encoder) -> None:
    """Write the embeddings of all entities that have none, those with the longest names first.

    Names with a character outside the encoder's vocabulary are left out: two such names that
    differ only there would get the same embedding. Raises EncoderError where the graph is embedded
    with another encoder.
    """
    (stored,) = database.write(
        "load_kg/unembedded", graph=graph, encoder=encoder.name, dimension=encoder.dimension
    )
    if (stored["encoder"], stored["dimension"]) != (encoder.name, encoder.dimension):
        raise EncoderError(
            f"the graph is embedded with {stored['encoder']} ({stored['dimension']})",
            where=graph,
            hint="Use that encoder, or delete the graph and load it again.",
        )
    rows = stored["entities"]
    unknown = token_id(encoder.tokenizer, "[UNK]", "<unk>")
    tokens = encoder.tokenizer.encode_batch([row["name"] for row in rows], add_special_tokens=False)
    pairs = zip(rows, tokens, strict=True)
    rows = [row for row, name in pairs if unknown is None or unknown not in name.ids]
    # Sorted by length over all batches, so that a batch has names of similar length.
    rows.sort(key=lambda row: -len(row["name"]))
    with bar("embed", len(rows)) as progress:
        for start in range(0, len(rows), _EMBEDDED):
            batch = rows[start : start + _EMBEDDED]
            vectors = encoder.encode([row["name"] for row in batch]).tolist()
            pairs = zip(batch, vectors, strict=True)
            database.write(
                "connect/embeddings", rows=[{"id": r["id"], "vector": v} for r, v in pairs]
            )
            progress.update(len(batch))
