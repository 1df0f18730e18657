"""The KNN-ST graph: passages joined to those whose embeddings are nearest (KGP, section 3)."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

from kgp_neo4j.connect.embedding_graph import Space, embed_and_join, require
from kgp_neo4j.connect.steps import timed
from kgp_neo4j.database import Database, Row
from kgp_neo4j.errors import EncoderError
from kgp_neo4j.models import DEFAULT_ENCODER, Encoder, load_encoder, passage_text

__all__ = ["SimilaritySettings", "connect_similarity"]


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
    require(database, settings.neighbours)
    # Before anything is touched, so that a run that is refused leaves the corpus as it is.
    with timed(seconds, "load encoder"):
        known = database.read("inspect/corpus", corpus=corpus)[0]
        encoder = load_encoder(settings.encoder or known["encoder"] or DEFAULT_ENCODER)
    if known["encoder"] and not settings.replace:
        _check(corpus, known, encoder)

    def remember() -> None:
        kept = database.write(
            "connect/encoder", corpus=corpus, encoder=encoder.name, dimension=encoder.dimension
        )[0]
        _check(corpus, kept, encoder)  # again: another run may have come first

    space = Space(
        "st",
        "similarity",
        "SIMILAR_ST",
        lambda rows, done: encoder.encode([passage_text(*row) for row in rows], done=done),
        remember,
    )
    embedded, edges = embed_and_join(
        database,
        corpus,
        space,
        neighbours=settings.neighbours,
        replace=settings.replace,
        settings=json.dumps(dataclasses.asdict(settings), sort_keys=True),
        seconds=seconds,
    )
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
