"""Embeds the names of a graph's entities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import regex

from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.pretrained import CHINESE_ENCODER, DEFAULT_ENCODER
from kgp_neo4j.types.errors import EncoderError

if TYPE_CHECKING:
    from kgp_neo4j.models.encoder import Encoder

__all__ = ["embed_names", "encoder_of_language"]

#: Embeddings of a transaction.
_BATCH = 4_096
_HAN = regex.compile(r"\p{Han}")
#: Letters of Japanese and Korean, which stand beside Han characters there.
_NOT_CHINESE = regex.compile(r"[\p{Hiragana}\p{Katakana}\p{Hangul}]")


def encoder_of_language(names: Iterable[str]) -> str:
    """Return the offline encoder for names: the Chinese one where most have Han characters."""
    chinese = [bool(_HAN.search(name) and not _NOT_CHINESE.search(name)) for name in names]
    return CHINESE_ENCODER if 2 * sum(chinese) > len(chinese) else DEFAULT_ENCODER


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
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            vectors = encoder.encode([row["name"] for row in batch]).tolist()
            ids = [row["id"] for row in batch]
            database.write(
                "connect/embeddings",
                rows=[{"id": i, "vector": v} for i, v in zip(ids, vectors, strict=True)],
            )
            progress.update(len(batch))
