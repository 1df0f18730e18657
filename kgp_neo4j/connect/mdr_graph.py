"""The KNN-MDR graph: edges between the passages whose MDR embeddings are nearest (KGP, section 3).

The encoder is one that was trained to predict the next supporting passage from those before it
(`kgp-neo4j train mdr`), so that nearness stands for what a question needs together. As in the
paper, the nearest are those by the embeddings of the passages alone.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

from kgp_neo4j.connect.embedding_graph import Space, embed_and_join, require
from kgp_neo4j.connect.steps import timed
from kgp_neo4j.database import Database, Row
from kgp_neo4j.errors import ConfigurationError, EncoderError
from kgp_neo4j.models import MdrEncoder, load_mdr

__all__ = ["MdrSettings", "connect_mdr"]


@dataclass(frozen=True, slots=True)
class MdrSettings:
    """The folder of the MDR encoder (where it is None, the one the corpus has), how many nearest
    passages each is joined to, and whether a corpus that has another one is embedded anew."""

    model: str | None = None
    neighbours: int = 10
    replace: bool = False


def connect_mdr(
    database: Database, corpus: str, settings: MdrSettings, seconds: dict[str, float]
) -> dict[str, int]:
    """Embed passages with an MDR encoder where they are not yet, and make the edges afresh.

    Returns what was made, by name. Raises ConfigurationError when no encoder is known, EncoderError
    when the corpus was embedded with another one, and CapabilityError when the server has no GDS.
    """
    require(database, settings.neighbours)
    # Before anything is touched, so that a run that is refused leaves the corpus as it is.
    known = database.read("inspect/mdr_encoder", corpus=corpus)
    name = settings.model or (known[0]["encoder"] if known else None)
    if name is None:
        raise ConfigurationError(
            "the KNN-MDR graph needs an MDR encoder",
            hint="Train one with `kgp-neo4j train mdr`, and give its folder: --mdr-model FOLDER.",
        )
    with timed(seconds, "load MDR encoder"):
        encoder = load_mdr(name)
    if known and not settings.replace:
        _check(corpus, known[0], encoder)

    def remember() -> None:
        kept = database.write(
            "connect/mdr_encoder",
            corpus=corpus,
            encoder=encoder.name,
            dimension=encoder.dimension,
            fingerprint=encoder.fingerprint,
        )[0]
        _check(corpus, kept, encoder)  # again: another run may have come first

    space = Space(
        "mdr",
        "mdr",
        "SIMILAR_MDR",
        lambda rows, done: encoder.encode_passages(rows, done=done),
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
    return {"mdr_embedded": embedded, "mdr_edges": edges}


def _check(corpus: str, kept: Row, encoder: MdrEncoder) -> None:
    """Raise EncoderError where a corpus is embedded with an MDR encoder of other weights."""
    if kept["fingerprint"] != encoder.fingerprint:
        raise EncoderError(
            f"the corpus {corpus!r} is embedded with the MDR encoder {kept['encoder']} "
            f"({kept['fingerprint']}), not with {encoder.name} ({encoder.fingerprint})",
            hint="Vectors of two encoders cannot be compared: leave --mdr-model out, or embed "
            "everything anew with --replace-embeddings.",
        )
