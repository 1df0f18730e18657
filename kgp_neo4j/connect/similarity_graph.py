"""The KNN-ST graph: passage embeddings in a vector index, and edges to the nearest by GDS KNN."""

from __future__ import annotations

import dataclasses
import json
import uuid
from dataclasses import dataclass

from kgp_neo4j.connect.steps import timed, watched, write_rows
from kgp_neo4j.database import Database, Row
from kgp_neo4j.errors import CapabilityError, ConfigurationError, EncoderError
from kgp_neo4j.models import DEFAULT_ENCODER, Encoder, load_encoder
from kgp_neo4j.progress import bar

__all__ = ["SimilaritySettings", "connect_similarity"]

_GRAPH = "similarity"
_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class SimilaritySettings:
    """Which encoder, how many nearest passages each is joined to (k of the paper's KNN), and
    whether a corpus that was embedded otherwise is embedded anew."""

    encoder: str | None = None
    neighbours: int = 10
    replace: bool = False


def connect_similarity(
    database: Database, corpus: str, settings: SimilaritySettings, seconds: dict[str, float]
) -> dict[str, int]:
    """Embed the passages that have no embedding yet, and make the similarity edges afresh.

    Returns what was made, by name. Raises EncoderError when the corpus was embedded with another
    encoder, and CapabilityError when the server has no GDS.
    """
    if not 1 <= settings.neighbours <= 1000:
        raise ConfigurationError(
            f"neighbours is {settings.neighbours}", hint="Choose a number from 1 to 1000."
        )
    if not database.capabilities().gds:
        raise CapabilityError(
            "the server has no Graph Data Science, which makes the KNN graph",
            hint="Add its plugin, or make the keyword graph alone: --edges tfidf.",
        )
    # Before anything is touched, so that a run that is refused leaves the corpus as it is.
    with timed(seconds, "load encoder"):
        known = database.read("inspect/corpus", corpus=corpus)[0]
        encoder = load_encoder(settings.encoder or known["encoder"] or DEFAULT_ENCODER)
    if known["encoder"] and not settings.replace:
        _check(corpus, known, encoder)
    database.write("connect/begin", corpus=corpus, graph=_GRAPH)
    if settings.replace:
        database.write_in_batches("connect/remove_embeddings", corpus=corpus)
    embedded = _embed(database, corpus, encoder, seconds)
    with timed(seconds, "similarity edges"):
        database.write_in_batches("connect/remove_similar", corpus=corpus)
        edges = _nearest(database, corpus, settings.neighbours)
    with timed(seconds, "vector index"):
        database.read("install/await_indexes")
    kept = json.dumps(dataclasses.asdict(settings), sort_keys=True)
    database.write("connect/finish", corpus=corpus, graph=_GRAPH, settings=kept)
    return {"embedded": embedded, "similarity_edges": edges}


def _check(corpus: str, kept: Row, encoder: Encoder) -> None:
    """Raise EncoderError where a corpus is embedded with another encoder than this one."""
    if (kept["encoder"], kept["dimension"]) != (encoder.name, encoder.dimension):
        raise EncoderError(
            f"the corpus {corpus!r} is embedded with {kept['encoder']} ({kept['dimension']} "
            f"dimensions), not with {encoder.name} ({encoder.dimension})",
            hint="Vectors of two encoders cannot be compared: leave --encoder out, or embed "
            "everything anew with --replace-embeddings.",
        )


def _embed(database: Database, corpus: str, encoder: Encoder, seconds: dict[str, float]) -> int:
    kept = database.write(
        "connect/encoder", corpus=corpus, encoder=encoder.name, dimension=encoder.dimension
    )[0]
    _check(corpus, kept, encoder)  # again: another run may have come first
    rows = database.read("connect/unembedded", corpus=corpus)
    # Longest first, so that a batch wastes no work on padding.
    rows.sort(key=lambda row: -len(row["text"]))
    written = 0
    with bar("embed", len(rows), "passages") as progress:
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            with timed(seconds, "embed"):
                vectors = encoder.encode(
                    [f"{row['title']}. {row['text']}" for row in batch], done=progress.update
                )
            with timed(seconds, "write embeddings"):
                # Written as they come, so that a run that is stopped goes on from there.
                values = (
                    {"id": row["id"], "vector": vector.tolist()}
                    for row, vector in zip(batch, vectors, strict=True)
                )
                # The bar of the passages embedded is the only one: these are the same passages.
                written += write_rows(database, "connect/embeddings", values, _BATCH, None)
    return written


def _nearest(database: Database, corpus: str, neighbours: int) -> int:
    # A name of its own, so that two runs at once do not meet in GDS's catalogue.
    graph = f"kgp-{uuid.uuid4().hex}"
    projected = database.read("connect/project", graph=graph, corpus=corpus)
    nodes = int(projected[0]["nodes"] or 0) if projected else 0
    try:
        if nodes < 2:
            return 0
        # GDS wants k below the number of nodes.
        k = min(neighbours, nodes - 1)
        with watched(database, "Knn", "similarity edges"):
            return int(database.write("connect/similar", graph=graph, neighbours=k)[0]["edges"])
    finally:
        database.read("connect/drop", graph=graph)
