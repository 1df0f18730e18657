"""Makes the KNN graphs: embeds passages, and joins each to its nearest."""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.build import timed
from kgp_neo4j.corpus.connect.nearest import join_nearest
from kgp_neo4j.environment.job import in_context
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.mdr import MdrEncoder, load_mdr, passage_text
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.types.errors import ConfigurationError, EncoderError
from kgp_neo4j.types.settings import MdrSettings, SimilaritySettings

__all__ = ["Embedding", "embed_passages"]

#: Passages encoded at once, after which a run can stop, and passages written in one transaction.
#: Larger transactions are better for the vector index, which gets a segment from each.
_CHUNK = 256
_BATCH = 2_000
#: Of the graph by the sentence encoder, and of that by an MDR encoder: the type of the graph, the
#: property of the passages' embeddings, and the type of the edges.
_KNN_ST = ("similarity", "embedding", "SIMILAR_ST")
_KNN_MDR = ("mdr", "mdrEmbedding", "SIMILAR_MDR")


class Embedding:
    """Embeds the passages of a corpus in a thread of its own, and makes the edges of their graph.

    Code that makes other graphs meanwhile calls `write` from time to time: only one thread writes,
    so that no two transactions wait for each other. Use it with `with`, which ends the thread.
    """

    def __init__(
        self,
        database: Database,
        corpus: str,
        encoder: Encoder | MdrEncoder,
        *,
        replace: bool,
        seconds: dict[str, float],
    ) -> None:
        self._database = database
        self._corpus = corpus
        self._encoder = encoder
        self._graph, self._property, self._edges = _space_of(encoder)
        self._replace = replace
        self._seconds = seconds
        rows = database.stream(
            "connect/unembedded", corpus=corpus, property=self._property, replace=replace
        )
        # Longest first, so that a batch wastes no work on padding; the texts are read again when
        # they are encoded, since all together take much memory.
        sizes = sorted((-len(row["text"]), row["id"]) for row in rows)
        self._ids: list[str] = [id_ for _, id_ in sizes]
        #: Passages with their vectors, as they are encoded, until `write` takes them.
        self._chunks: deque[Future[list[Row]]] = deque()
        self._unwritten: list[Row] = []
        self._begun = False
        self._executor = ThreadPoolExecutor(1, "encode")
        self._shown = ExitStack()

    def __enter__(self) -> Self:
        self._progress = self._shown.enter_context(bar("embed", len(self._ids), "passages"))
        encode = in_context(self._encode)
        for start in range(0, len(self._ids), _CHUNK):
            ids = self._ids[start : start + _CHUNK]
            self._chunks.append(self._executor.submit(encode, ids))
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(cancel_futures=True)
        self._shown.close()

    def write(self, *, wait: bool = False) -> None:
        """Write the passages encoded by now, in full batches; with `wait`, write all of them.

        A run that is interrupted continues after the passages written.
        """
        while self._chunks and (wait or self._chunks[0].done()):
            self._unwritten += self._chunks.popleft().result()
            if len(self._unwritten) >= _BATCH:
                self._write()
        if wait:
            self._shown.close()
            if self._unwritten or not self._begun:
                self._write()

    def join(self, settings: SimilaritySettings | MdrSettings, *, anew: bool = False) -> int:
        """Write the remaining passages, make the edges, and return how many were embedded.

        Where few passages are new or lost a neighbour, only their edges and those to them are made,
        all where `anew` is true or the number of neighbours is another than before.
        """
        self.write(wait=True)
        database, corpus, graph = self._database, self._corpus, self._graph
        with timed(self._seconds, "similarity edges"):
            (state,) = database.read("connect/similarity", corpus=corpus, graph=graph)
            if state["indexed"]:
                # The first time that of the vectors, which are all there now.
                database.make_indexes("load/own_indexes", corpus=corpus)
            stored = json.loads(state["settings"]) if state["settings"] else {}
            every = anew or stored.get("neighbours") != settings.neighbours
            if every:
                database.write("connect/begin", corpus=corpus, graph=graph)
            join_nearest(
                database, corpus, self._property, self._edges, settings.neighbours, every=every
            )
        with timed(self._seconds, "vector index"):
            database.read("install/await_indexes")
        values = json.dumps(dataclasses.asdict(settings), sort_keys=True)
        database.write("connect/finish", corpus=corpus, graph=graph, settings=values)
        return len(self._ids)

    def _encode(self, ids: Sequence[str]) -> list[Row]:
        with timed(self._seconds, "embed"):
            rows = self._database.read("inspect/passages", ids=ids)
            texts = [(row["title"], row["text"]) for row in rows]
            pairs = zip(rows, self._vectors(texts), strict=True)
            return [{"id": row["id"], "vector": vector} for row, vector in pairs]

    def _vectors(self, texts: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the vectors of passages given as (title, text)."""
        done = self._progress.update
        if isinstance(self._encoder, MdrEncoder):
            return self._encoder.encode_passages(texts, done=done)
        return self._encoder.encode([passage_text(*text) for text in texts], done=done)

    def _write(self) -> None:
        database, corpus = self._database, self._corpus
        with timed(self._seconds, "write embeddings"):
            if not self._begun:
                if self._replace:
                    # Until it is finished, nothing can be compared with the new vectors.
                    database.write("connect/begin", corpus=corpus, graph=self._graph, keep=False)
                    database.write_in_batches(
                        "connect/remove_embeddings",
                        corpus=corpus,
                        graph=self._graph,
                        property=self._property,
                    )
                _remember_encoder(database, corpus, self._encoder)
                self._begun = True
            rows = [{"id": row["id"], "vector": row["vector"].tolist()} for row in self._unwritten]
            database.write("connect/embeddings", rows=rows, property=self._property)
            self._unwritten = []


# --- Encoders ---


def embed_passages(
    database: Database,
    corpus: str,
    settings: SimilaritySettings | MdrSettings,
    seconds: dict[str, float],
) -> Embedding:
    """Return an Embedding for the passages that have none yet.

    The encoder is the one in `settings`, else the corpus's, else the default one of its kind.
    Raises EncoderError when the corpus was embedded with another encoder and is not embedded anew.
    """
    if not 1 <= settings.neighbours <= 1000:
        raise ConfigurationError(
            f"neighbours is {settings.neighbours}", hint="Choose a number from 1 to 1000."
        )
    # Before any change, so that a refused run leaves the corpus as it is.
    encoder: Encoder | MdrEncoder
    with timed(seconds, "load encoder"):
        if isinstance(settings, MdrSettings):
            stored = database.read("inspect/encoder", corpus=corpus, graph="mdr")
            encoder = load_mdr()
        else:
            stored = database.read("inspect/encoder", corpus=corpus, graph="similarity")
            known = stored[0]["encoder"] if stored else DEFAULT_ENCODER
            encoder = load_encoder(settings.encoder or known)
    if not settings.replace:
        _check(corpus, stored, encoder)
    return Embedding(database, corpus, encoder, replace=settings.replace, seconds=seconds)


def _remember_encoder(database: Database, corpus: str, encoder: Encoder | MdrEncoder) -> None:
    """Store which encoder a corpus has; raises EncoderError where another run has come first."""
    fingerprint = encoder.fingerprint if isinstance(encoder, MdrEncoder) else None
    stored = database.write(
        "connect/encoder", corpus=corpus, graph=_space_of(encoder)[0],
        encoder=encoder.name, dimension=encoder.dimension, fingerprint=fingerprint,
    )  # fmt: skip
    _check(corpus, stored, encoder)


def _space_of(encoder: Encoder | MdrEncoder) -> tuple[str, str, str]:
    return _KNN_MDR if isinstance(encoder, MdrEncoder) else _KNN_ST


def _check(corpus: str, stored: Sequence[Row], encoder: Encoder | MdrEncoder) -> None:
    """Raise EncoderError where a corpus is embedded with another encoder than this one."""
    for row in stored:
        if isinstance(encoder, MdrEncoder):
            is_same = row["fingerprint"] == encoder.fingerprint
            kind, remedy = "the MDR encoder ", "embed"
            theirs, ours = row["fingerprint"], encoder.fingerprint
        else:
            is_same = (row["encoder"], row["dimension"]) == (encoder.name, encoder.dimension)
            kind, remedy = "", "leave --encoder out, or embed"
            theirs, ours = f"{row['dimension']} dimensions", str(encoder.dimension)
        if not is_same:
            raise EncoderError(
                f"the corpus {corpus!r} is embedded with {kind}{row['encoder']} ({theirs}), "
                f"not with {encoder.name} ({ours})",
                hint=f"Vectors of two encoders cannot be compared: {remedy} everything anew with "
                "--replace-embeddings.",
            )
