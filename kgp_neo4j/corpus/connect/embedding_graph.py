"""Makes the KNN graphs: embeds passages and joins each to its nearest by GDS or the index."""

from __future__ import annotations

import dataclasses
import json
import threading
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.build import timed
from kgp_neo4j.environment.job import in_context
from kgp_neo4j.environment.progress import bar, is_shown
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.room import check_heap
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.mdr import DEFAULT_MDR, MdrEncoder, load_mdr, passage_text
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.types.errors import (
    CapabilityError,
    ConfigurationError,
    DatabaseError,
    EncoderError,
)
from kgp_neo4j.types.settings import MdrSettings, SimilaritySettings

__all__ = [
    "Embedding",
    "check_memory",
    "check_neighbours",
    "choose_encoder",
    "connect_mdr",
    "embed_passages",
    "remember_encoder",
]

#: Passages encoded at once, after which a run can stop, and passages written in one transaction.
#: Larger transactions are better for the vector index, which gets a segment from each.
_CHUNK = 256
_BATCH = 2_000
#: Most chunks that wait to be written, which limits the memory.
_QUEUED = 256
#: How many more than the nearest ones GDS has to find.
_TWICE = 2
#: The share of passages up to which the nearest of each are asked for one by one: an answer of the
#: index takes as long as GDS takes for ten to twenty passages.
_FEW = 0.05
#: Passages asked for at once, and how many more than the nearest ones the index has to find: it
#: misses some, and a passage may be among the nearest of one that is not among its own, which
#: matters where few are asked for.
_ASKED, _DEPTH = 100, 10


#: Of the graph by the sentence encoder, and of that by an MDR encoder: the type of the graph, the
#: property of the passages' embeddings, and the type of the edges.
_KNN_ST = ("similarity", "embedding", "SIMILAR_ST")
_KNN_MDR = ("mdr", "mdrEmbedding", "SIMILAR_MDR")


def check_neighbours(neighbours: int) -> None:
    """Raise ConfigurationError for a number of neighbours that is out of range."""
    if not 1 <= neighbours <= 1000:
        raise ConfigurationError(
            f"neighbours is {neighbours}", hint="Choose a number from 1 to 1000."
        )


def check_memory(database: Database, passages: int, dimension: int, neighbours: int) -> int:
    """Return the bytes of the server's heap that GDS needs for a KNN graph, at the most.

    Raises CapabilityError where the least that it needs does not fit.
    """
    (needed,) = database.read(
        "gds/knn_memory",
        passages=passages, dimension=dimension, neighbours=_TWICE * neighbours,
    )  # fmt: skip
    return check_heap(needed, f"the similarity graph of {passages:,} passages")


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
        self._gds = database.capabilities().gds
        rows = database.stream(
            "connect/unembedded", corpus=corpus, property=self._property, replace=replace
        )
        # Longest first, so that a batch wastes no work on padding; the texts are read again when
        # they are encoded, since all together take much memory.
        sizes = sorted((-len(row["text"]), row["id"]) for row in rows)
        self._ids: list[str] = [id_ for _, id_ in sizes]
        if self._gds:
            # What is needed at the least, before the passages are encoded, which takes much longer.
            check_memory(database, len(self._ids), encoder.dimension, 1)
        #: Passages with their vectors, as they are encoded; a few chunks may wait for `write`.
        self._chunks: deque[Future[list[Row]]] = deque()
        self._room = threading.Semaphore(_QUEUED)
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
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._room.release()  # for the one that waits
        self._executor.shutdown()
        self._shown.close()

    def write(self, *, wait: bool = False) -> None:
        """Write the passages encoded by now, in full batches; with `wait`, write all of them.

        A run that is interrupted continues after the passages written.
        """
        while self._chunks and (wait or self._chunks[0].done()):
            self._unwritten += self._chunks.popleft().result()
            self._room.release()
            if len(self._unwritten) >= _BATCH:
                self._write()
        if wait:
            self._shown.close()
            if self._unwritten or not self._begun:
                self._write()

    def join(
        self, settings: SimilaritySettings | MdrSettings, *, anew: bool = False
    ) -> dict[str, int]:
        """Write the remaining passages, and make the edges.

        Where few passages are new or lost a neighbour, only their edges and those to them are made;
        otherwise, and where `anew` is true, all: by GDS where the server has it, else by the index
        of the embeddings, which takes ten to twenty times as long. Returns how many passages were
        `embedded`, and `gds_memory`: the bytes of the server's heap that GDS needed, 0 where it was
        not asked. Raises CapabilityError where it has not enough memory.
        """
        self.write(wait=True)
        database, corpus = self._database, self._corpus
        memory = 0
        with timed(self._seconds, "similarity edges"):
            (state,) = database.read("connect/similarity", corpus=corpus, graph=self._graph)
            if state["indexed"]:
                # The first time that of the vectors, which are all there now.
                database.make_indexes("load/own_indexes", corpus=corpus)
            stored = json.loads(state["settings"]) if state["settings"] else {}
            least = min(settings.neighbours, state["passages"] - 1)
            may_join = state["indexed"] and stored.get("neighbours") == settings.neighbours
            lonely = _unjoined(database, corpus, least) if may_join and not anew else None
            if lonely is not None and len(lonely) <= _FEW * state["passages"]:
                _join(database, corpus, lonely, least, _DEPTH)
            else:
                memory = self._make_all(state["passages"], settings.neighbours)
        with timed(self._seconds, "vector index"):
            database.read("install/await_indexes")
        values = json.dumps(dataclasses.asdict(settings), sort_keys=True)
        database.write("connect/finish", corpus=corpus, graph=self._graph, settings=values)
        return {"embedded": len(self._ids), "gds_memory": memory}

    def _make_all(self, passages: int, neighbours: int) -> int:
        """Make the edges of all passages, and return the memory that GDS needed."""
        database, corpus = self._database, self._corpus
        memory = 0
        if self._gds:
            memory = check_memory(database, passages, self._encoder.dimension, neighbours)
        database.write("connect/begin", corpus=corpus, graph=self._graph)
        database.write_in_batches("connect/remove_edges", corpus=corpus, type=self._edges)
        if self._gds:
            self._make_by_gds(neighbours)
        else:
            least = min(neighbours, passages - 1)
            database.read("install/await_indexes")
            _join(database, corpus, _unjoined(database, corpus, least), least, _TWICE)
        return memory

    def _make_by_gds(self, neighbours: int) -> None:
        database, corpus = self._database, self._corpus
        # A unique name, so that two concurrent runs do not collide in GDS's catalogue.
        graph = f"kgp-{uuid.uuid4().hex}"
        # All by WRITE: GDS keeps a graph on the one server of a cluster that made it.
        projected = database.write(
            "connect/project", graph=graph, corpus=corpus, property=self._property
        )
        nodes = int(projected[0]["nodes"] or 0) if projected else 0
        try:
            if nodes < 2:
                return
            # GDS wants k below the number of nodes. Asked for ten it finds nine of a passage's true
            # neighbours; asked for twice as many, the nearest half of what it finds is right.
            k = min(_TWICE * neighbours, nodes - 1)
            with _gds_progress(database, "Knn", "similarity edges"):
                database.write("connect/similar", graph=graph, type=self._edges, neighbours=k)
            database.write_in_batches(
                "connect/keep_nearest", corpus=corpus, type=self._edges, neighbours=neighbours
            )
        finally:
            database.write("connect/drop", graph=graph)

    def _encode(self, ids: Sequence[str]) -> list[Row]:
        self._room.acquire()
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
                remember_encoder(database, corpus, self._encoder)
                self._begun = True
            rows = [{"id": row["id"], "vector": row["vector"].tolist()} for row in self._unwritten]
            database.write("connect/embeddings", rows=rows, property=self._property)
            self._unwritten = []


@contextmanager
def _gds_progress(database: Database, task: str, title: str) -> Iterator[None]:
    """Show the progress that GDS reports for a job while the block runs."""
    if not is_shown():
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        shown = 0
        with bar(title, 100, "%") as progress:
            while not ended.wait(0.5):
                try:
                    percent = database.read("inspect/gds_progress", task=task)[0]["percent"]
                except DatabaseError:
                    return  # the job goes on without its bar
                progress.update(max(int(percent or 0) - shown, 0))
                shown = max(int(percent or 0), shown)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _unjoined(database: Database, corpus: str, least: int) -> list[str]:
    rows = database.read("connect/unjoined", corpus=corpus, least=least)
    return [row["node"] for row in rows]


def _join(
    database: Database, corpus: str, nodes: Sequence[str], neighbours: int, depth: int
) -> None:
    """Join passages to their nearest ones, and those to them that have them among their nearest.

    The index has to find `depth` times as many. What is made of some passages is one transaction,
    so that a run that is cut short goes on.
    """
    with bar("similarity edges", len(nodes), "passages") as progress:
        for start in range(0, len(nodes), _ASKED):
            asked = nodes[start : start + _ASKED]
            _join_some(database, corpus, asked, neighbours, depth)
            progress.update(len(asked))


def _join_some(
    database: Database, corpus: str, asked: Sequence[str], neighbours: int, depth: int
) -> None:
    near: dict[str, dict[str, float]] = {}
    for row in database.read_packed(
        "connect/nearest", corpus=corpus, rows=asked, depth=depth * neighbours
    ):
        near.setdefault(row["node"], {})[row["other"]] = row["score"]
        near.setdefault(row["other"], {})[row["node"]] = row["score"]
    before: dict[str, dict[str, float]] = {}
    for row in database.read_packed("connect/edges", corpus=corpus, rows=list(near)):
        before.setdefault(row["node"], {})[row["other"]] = row["weight"]
    rows = []
    for node, others in near.items():
        known = before.get(node, {})
        both = {**others, **known}
        best = sorted(both, key=lambda other: (-both[other], other))[:neighbours]
        if set(best) != known.keys():
            rows.append({"node": node, "edges": [[other, both[other]] for other in best]})
    database.write("connect/join", corpus=corpus, rows=rows)


# --- Encoders ---


def embed_passages(
    database: Database, corpus: str, settings: SimilaritySettings, seconds: dict[str, float]
) -> Embedding:
    """Return an Embedding for the passages that have none yet.

    Raises EncoderError when the corpus was embedded with another encoder, and CapabilityError when
    GDS has not enough memory.
    """
    check_neighbours(settings.neighbours)
    # Before any change, so that a refused run leaves the corpus as it is.
    with timed(seconds, "load encoder"):
        encoder = choose_encoder(database, corpus, settings)
    return Embedding(database, corpus, encoder, replace=settings.replace, seconds=seconds)


def connect_mdr(
    database: Database, corpus: str, settings: MdrSettings, seconds: dict[str, float]
) -> dict[str, int]:
    """Embed new passages with an MDR encoder, and replace the edges; return counts by name.

    It is the one in `settings`, else the corpus's, else the bundled one. Raises EncoderError when
    the corpus was embedded with another one, and CapabilityError when the server has no GDS.
    """
    check_neighbours(settings.neighbours)
    if not database.capabilities().gds:
        raise CapabilityError(
            "the server has no Graph Data Science, which makes the KNN-MDR graph",
            hint="Add its plugin, or make the other graphs: --edges tfidf --edges knn-st.",
        )
    # Before any change, so that a refused run leaves the corpus as it is.
    stored = database.read("inspect/encoder", corpus=corpus, graph="mdr")
    with timed(seconds, "load MDR encoder"):
        encoder = load_mdr(settings.model or (stored[0]["encoder"] if stored else DEFAULT_MDR))
    if not settings.replace:
        _check(corpus, stored, encoder)
    with Embedding(
        database, corpus, encoder, replace=settings.replace, seconds=seconds
    ) as embedding:
        counts = embedding.join(settings)
    return {"mdr_embedded": counts.pop("embedded"), **counts}


def choose_encoder(database: Database, corpus: str, settings: SimilaritySettings) -> Encoder:
    """Return the encoder of a corpus, the one asked for or the default one.

    Raises EncoderError where the corpus was embedded with another and is not embedded anew.
    """
    stored = database.read("inspect/encoder", corpus=corpus, graph="similarity")
    known = stored[0]["encoder"] if stored else DEFAULT_ENCODER
    encoder = load_encoder(settings.encoder or known)
    if not settings.replace:
        _check(corpus, stored, encoder)
    return encoder


def remember_encoder(database: Database, corpus: str, encoder: Encoder | MdrEncoder) -> None:
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
    """Raise EncoderError where a corpus is embedded with another encoder than this one.

    An MDR encoder is the same in another folder.
    """
    for row in stored:
        if isinstance(encoder, MdrEncoder):
            is_same = row["fingerprint"] == encoder.fingerprint
            kind, option = "the MDR encoder ", "--mdr-model"
            theirs, ours = row["fingerprint"], encoder.fingerprint
        else:
            is_same = (row["encoder"], row["dimension"]) == (encoder.name, encoder.dimension)
            kind, option = "", "--encoder"
            theirs, ours = f"{row['dimension']} dimensions", str(encoder.dimension)
        if not is_same:
            raise EncoderError(
                f"the corpus {corpus!r} is embedded with {kind}{row['encoder']} ({theirs}), "
                f"not with {encoder.name} ({ours})",
                hint=f"Vectors of two encoders cannot be compared: leave {option} out, or embed "
                "everything anew with --replace-embeddings.",
            )
