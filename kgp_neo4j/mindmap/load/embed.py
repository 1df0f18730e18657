"""Embeds the names of entities while the database writes the relationships."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import regex

from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.gather import Gathered
from kgp_neo4j.mindmap.load.write_graph import GraphWriter
from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.pretrained import CHINESE_ENCODER, DEFAULT_ENCODER
from kgp_neo4j.types.errors import EncoderError

if TYPE_CHECKING:
    from kgp_neo4j.models.encoder import Encoder

__all__ = ["encoder_of_language", "write_and_embed"]

#: Embeddings of a transaction, and how many such batches may wait for the database.
_BATCH = 4_096
_MOST_PENDING = 16
_HAN = regex.compile(r"\p{Han}")
#: Letters of Japanese and Korean, which stand beside Han characters there.
_NOT_CHINESE = regex.compile(r"[\p{Hiragana}\p{Katakana}\p{Hangul}]")


def encoder_of_language(names: Iterable[str]) -> str:
    """Return the offline encoder for names: the Chinese one where most have Han characters."""
    chinese = [bool(_HAN.search(name) and not _NOT_CHINESE.search(name)) for name in names]
    return CHINESE_ENCODER if 2 * sum(chinese) > len(chinese) else DEFAULT_ENCODER


def write_and_embed(
    database: Database, graph: str, writer: GraphWriter, gathered: Gathered, encoder: Encoder | None
) -> int:
    """Write relationships and, with an encoder, the embeddings of all entities that have none.

    Returns how many relationships are new. Encoder and database work at the same time, so that two
    cores are in use. Raises EncoderError where the graph is embedded with another encoder.
    """
    rows = _unembedded(database, graph, encoder) if encoder else []
    stop = threading.Event()
    with (
        bar("write", len(gathered) + len(rows)) as progress,
        ThreadPoolExecutor(1) as thread,
    ):
        try:
            relationships = thread.submit(writer.relationships, gathered, progress, stop.is_set)
            pending: list[Future[int]] = []
            for batch in _encoded(encoder, rows) if encoder and rows else ():
                if relationships.done():
                    relationships.result()  # an error of the database ends the embedding too
                pending.append(thread.submit(_write, database, batch))
                if len(pending) > _MOST_PENDING:
                    progress.update(pending.pop(0).result())
            new = relationships.result()
            for each in pending:
                progress.update(each.result())
        except BaseException:
            stop.set()
            thread.shutdown(cancel_futures=True)
            raise
    return new


def _encoded(encoder: Encoder, rows: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in batches, each row with its `vector`."""
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        vectors = encoder.encode([row["name"] for row in batch])
        yield [
            {"id": row["id"], "vector": vector.tolist()}
            for row, vector in zip(batch, vectors, strict=True)
        ]


def _unembedded(database: Database, graph: str, encoder: Encoder) -> list[dict[str, Any]]:
    """Return the entities to embed, those with the longest names first.

    Names with a character outside the encoder's vocabulary are left out: two such names that
    differ only there would get the same embedding.
    """
    (stored,) = database.write(
        "load_kg/encoder", graph=graph, encoder=encoder.name, dimension=encoder.dimension
    )
    if (stored["encoder"], stored["dimension"]) != (encoder.name, encoder.dimension):
        raise EncoderError(
            f"the graph is embedded with {stored['encoder']} ({stored['dimension']})",
            where=graph,
            hint="Use that encoder, or delete the graph and load it again.",
        )
    rows = database.read("load_kg/unembedded", graph=graph)
    known = _in_vocabulary(encoder, [row["name"] for row in rows])
    rows = [row for row, all_known in zip(rows, known, strict=True) if all_known]
    # Sorted by length over all batches, so that a batch has names of similar length.
    rows.sort(key=lambda row: -len(row["name"]))
    return rows


def _in_vocabulary(encoder: Encoder, names: Sequence[str]) -> list[bool]:
    """Return for each name whether the encoder's vocabulary covers it."""
    unknown = token_id(encoder.tokenizer, "[UNK]", "<unk>")
    read = encoder.tokenizer.encode_batch(list(names), add_special_tokens=False)
    return [unknown is None or unknown not in one.ids for one in read]


def _write(database: Database, rows: list[dict[str, Any]]) -> int:
    return int(database.write("load_kg/embeddings", rows=rows)[0]["written"])
