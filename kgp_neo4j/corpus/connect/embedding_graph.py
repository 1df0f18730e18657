"""Makes the KNN graphs: embeds passages, and joins each to its nearest."""

import json
from array import array
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.graph_build import timed
from kgp_neo4j.corpus.load.stored import make_indexes
from kgp_neo4j.environment.job import ahead, bar, in_context
from kgp_neo4j.graphdb.database import Database, Row, in_batches
from kgp_neo4j.models import encoder as encoders
from kgp_neo4j.models.encoder import gpu_is_usable
from kgp_neo4j.models.engine import DEFAULT_ENCODER, QUICK_ENCODER
from kgp_neo4j.text.safe import parts
from kgp_neo4j.text.words import DEFAULT_LANGUAGE
from kgp_neo4j.types.errors import ConfigurationError, EncoderError
from kgp_neo4j.types.settings import MdrSettings, SimilaritySettings

Places: TypeAlias = NDArray[np.int64]
#: How many times as many of the nearest of a new passage may have it among their own nearest.
_DEPTH = 10
#: Cosines that are held at once, passages of which only the nearest one is looked at first, those
#: whose edges are written in one transaction, and those whose vectors are read at once.
_MOST_COSINES, _GROUP, _WRITTEN, _READ = 1 << 25, 64, 500, 5000
#: Most cosines that are made of all passages with all. Else space is cut into cells, and each
#: passage compared to those that have its own cell among their `_CELLS_NEAR` nearest.
_ALL_COSINES, _CELLS, _CELLS_NEAR = 10**10, 1024, 64


def _nearest(
    vectors: NDArray[np.float32], at: Places, most: int, among: Places | None = None
) -> Iterator[tuple[Sequence[int], Places, NDArray[np.float32]]]:
    """Yield some passages of those `at` places, the places of the nearest of each, and cosines.

    They are looked for in all places, or `among` some, in order, that have those `at` among them. A
    group's passages are looked at where its nearest is among those of all groups: none is left out.
    """
    others = vectors if among is None else vectors[among]
    groups = -(-len(others) // _GROUP)
    size = max(1, _MOST_COSINES // max(1, groups * _GROUP))
    table = np.empty((min(size, at.size), _GROUP * groups), np.float32)
    for start in range(0, at.size, size):
        of = at[start : start + size]
        cosines = table[: of.size]
        np.matmul(vectors[of], others.T, out=cosines[:, : len(others)])
        cosines[:, len(others) :] = -2
        own = of if among is None else np.searchsorted(among, of)
        cosines[np.arange(of.size), own] = -2  # no passage is a neighbour of its own
        # A group's passages lie far apart, since maxima of whole rows are found fastest.
        best = _first(cosines.reshape(of.size, _GROUP, groups).max(axis=1), min(most, groups))
        places = (best[:, :, None] + groups * np.arange(_GROUP)).reshape(of.size, -1)
        found = np.take_along_axis(cosines, places, 1)
        chosen = _first(found, most)
        places = np.take_along_axis(places, chosen, 1)
        places = places if among is None else among[places]
        yield of.tolist(), places, np.take_along_axis(found, chosen, 1)


def _nearest_in_cells(
    vectors: NDArray[np.float32], at: Places, most: int
) -> Iterator[tuple[Sequence[int], Places, NDArray[np.float32]]]:
    """Yield what `_nearest` does, nearly exactly, in a small part of the time."""
    centres = _centres(vectors)
    near = min(_CELLS_NEAR, len(centres))
    cells = np.empty((len(vectors), near), np.int16)
    for start in range(0, len(vectors), _CELLS):
        here = slice(start, start + _CELLS)
        cells[here] = _first(vectors[here] @ centres.T, near)
    order = np.argsort(cells, axis=None, kind="stable")
    order //= near
    ends = np.bincount(cells.ravel(), minlength=len(centres)).cumsum()
    for cell, among in enumerate(np.split(order, ends[:-1])):
        # Where a cell has too few passages, all passages are looked at.
        enough = among if among.size > most else None
        yield from _nearest(vectors, at[cells[at, 0] == cell], most, enough)


def _centres(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the centres of the cells: means of passages near each other, the same each time."""
    sample = vectors[np.random.default_rng(0).permutation(len(vectors))[: 64 * _CELLS]]
    centres = sample[:_CELLS].copy()
    for _ in range(8):
        cell = np.argmax(sample @ centres.T, axis=1)
        order = np.argsort(cell, kind="stable")
        begins = np.flatnonzero(np.diff(cell[order], prepend=-1))
        means = np.add.reduceat(sample[order], begins)
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        centres[cell[order][begins]] = means
    return centres


def _first(values: NDArray[np.float32], most: int) -> Places:
    """Return the places of the `most` highest values of each row, the highest first."""
    chosen = np.argpartition(-values, max(most - 1, 0), axis=1)[:, :most]
    order = np.argsort(-np.take_along_axis(values, chosen, 1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, 1)


#: Passages encoded and then written in one transaction, after which a run can stop. Larger ones are
#: better for the vector index, which gets a segment from each.
_BATCH = 2_000
#: Passages from which on the full encoder would take minutes.
_LARGE = 10_000
#: From this many on, it is worth while to find the encoder's quickest network.
_MANY = 1_000


def choose_encoder(
    database: Database, corpus: str, settings: SimilaritySettings | MdrSettings
) -> encoders.Encoder:
    """Return the MDR encoder, or the encoder in `settings`, else the corpus's or the default one.

    Raises ConfigurationError for a number of neighbours that is out of range, and EncoderError when
    the corpus was embedded with another encoder and is not embedded anew.
    """
    if not 1 <= settings.neighbours <= 1000:
        what = f"neighbours is {settings.neighbours}"
        raise ConfigurationError(what, hint="Choose a number from 1 to 1000.")
    graph = "mdr" if isinstance(settings, MdrSettings) else "similarity"
    stored = database.read("inspect/encoder", corpus=corpus, graph=graph)
    if isinstance(settings, MdrSettings):
        encoder: encoders.Encoder = encoders.load_mdr()
    else:
        name = settings.encoder or (stored[0]["encoder"] if stored else None)
        if name is None:
            (made,) = database.read("connect/made", corpus=corpus)
            is_english = made["language"] == DEFAULT_LANGUAGE and 2 * made["cjk"] < made["passages"]
            is_quick = made["passages"] >= _LARGE and is_english and not gpu_is_usable()
            name = QUICK_ENCODER if is_quick else DEFAULT_ENCODER
        encoder = encoders.load_encoder(name)
    if not settings.replace:
        _check(corpus, stored, encoder)
    return encoder


@dataclass(frozen=True, slots=True)
class EmbeddingGraph:
    """The embeddings of a corpus and the graph of the nearest, with the `seconds` of each step."""

    database: Database
    corpus: str
    encoder: encoders.Encoder
    settings: SimilaritySettings | MdrSettings
    seconds: dict[str, float]

    def embed(self) -> int:
        """Embed the passages without an embedding, or all, and return how many these were."""
        database, encoder, replace = self.database, self.encoder, self.settings.replace
        graph, space, _ = _space_of(encoder)
        values = {"corpus": self.corpus, "graph": graph}
        found = database.stream(
            "connect/unembedded", corpus=self.corpus, property=space, replace=replace
        )
        # Longest first, so that a batch wastes no work on padding; the texts are read again when
        # they are encoded, since all together take much memory.
        ids = [id_ for _, id_ in sorted((-len(row["text"]), row["id"]) for row in found)]
        if replace:
            # Until it is finished, nothing can be compared with the new vectors.
            database.write("connect/begin", **values, keep=False)
            database.write_in_batches("connect/remove_embeddings", **values, property=space)
        told = parts(encoder, "dimension", "fingerprint")
        stored = database.write("connect/encoder", **values, encoder=encoder.name, **told)
        _check(self.corpus, stored, encoder)  # another run may have come first
        if len(ids) >= _MANY:
            with timed(self.seconds, "embed"):
                _, texts = self._read(ids[:: len(ids) // 16][:16])
                encoder = encoders.choose_network(encoder, texts)
        # One batch is written while the next is encoded; it is encoded here, where Ctrl-C ends it.
        with bar("embed", len(ids), "passages") as progress, ThreadPoolExecutor(1) as beside:
            writing = beside.submit(lambda: None)
            for start in range(0, len(ids), _BATCH):
                with timed(self.seconds, "embed"):
                    batch, texts = self._read(ids[start : start + _BATCH])
                    vectors = encoders.encode_kept(encoder, texts, progress.update)
                writing.result()
                writing = beside.submit(in_context(self._write), batch, vectors)
            writing.result()
        return len(ids)

    def _read(self, ids: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the ids of passages that are still there, and their titles and texts."""
        rows = self.database.read("connect/texts", ids=ids)
        return [row["id"] for row in rows], [(row["title"], row["text"]) for row in rows]

    def _write(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        with timed(self.seconds, "write embeddings"):
            rows = [{"id": i, "vector": v.tolist()} for i, v in zip(ids, vectors, strict=True)]
            _, space, _ = _space_of(self.encoder)
            self.database.write("connect/embeddings", rows=rows, property=space)

    def join(self, *, anew: bool = False) -> None:
        """Join the embedded passages to their nearest; the graph counts as made after `finish`."""
        graph, _, _ = _space_of(self.encoder)
        database, corpus = self.database, self.corpus
        with timed(self.seconds, "similarity edges"):
            (state,) = database.read("inspect/encoder", corpus=corpus, graph=graph)
            stored = json.loads(state["settings"]) if state["settings"] else {}
            every = anew or stored.get("neighbours") != self.settings.neighbours
            if every:
                database.write("connect/begin", corpus=corpus, graph=graph)
            self._join_nearest(every)
            if state["indexed"]:
                # The first time that of the vectors, which the server makes beside what comes next.
                make_indexes(database, corpus)

    def _join_nearest(self, every: bool) -> None:
        """Join passages to their nearest, by the cosines of all embeddings of the corpus.

        It joins `every` one anew, or those with too few edges and what may be nearest to these.
        """
        database, corpus, neighbours = self.database, self.corpus, self.settings.neighbours
        _, space, edges = _space_of(self.encoder)
        lonely = set()
        if not every:
            values = {"corpus": corpus, "property": space, "type": edges, "least": neighbours}
            lonely = {row["node"] for row in database.read("connect/unjoined", **values)}
            if not lonely:
                return
        nodes: list[str] = []  # those with an embedding, by id
        numbers = array("f")
        values = {"corpus": corpus, "property": space, "limit": _READ}
        for row in database.read_pages("connect/vectors", "id", **values):
            nodes.append(row["node"])
            numbers.extend(row["vector"])
        vectors = np.frombuffer(numbers, np.float32).reshape(max(len(nodes), 1), -1)[: len(nodes)]
        at = np.arange(len(nodes))
        depth = min(_DEPTH * neighbours, len(nodes) - 1)
        if lonely and len(lonely) * depth < len(nodes):
            new = np.flatnonzero([node in lonely for node in nodes])
            near = [places for _, places, _ in _nearest(vectors, new, depth)]
            at = np.union1d(new, np.concatenate(near))
        search = _nearest if at.size * len(nodes) <= _ALL_COSINES else _nearest_in_cells
        with bar("similarity edges", len(at), "passages") as progress:
            for of, places, cosines in ahead(search(vectors, at, min(neighbours, len(nodes) - 1))):
                scores = (1 + cosines) / 2
                rows = []
                for n, near, each in zip(of, places.tolist(), scores.tolist(), strict=True):
                    edges_of = [[nodes[p], score] for p, score in zip(near, each, strict=True)]
                    rows.append({"node": nodes[n], "edges": edges_of})
                for some in in_batches(rows, _WRITTEN):
                    database.write("connect/join", corpus=corpus, type=edges, rows=some)
                progress.update(len(rows))

    def finish(self) -> None:
        """Wait until the embeddings' index can be asked, and let the graph count as made."""
        with timed(self.seconds, "vector index"):
            self.database.read("install/await_indexes")
        graph, _, _ = _space_of(self.encoder)
        values = json.dumps(asdict(self.settings), sort_keys=True)
        self.database.write("connect/finish", corpus=self.corpus, graph=graph, settings=values)


def _space_of(encoder: encoders.Encoder) -> tuple[str, str, str]:
    """Return a graph's type, the property of its embeddings, and the type of its edges."""
    if isinstance(encoder, encoders.MdrEncoder):
        return "mdr", "mdrEmbedding", "SIMILAR_MDR"
    return "similarity", "embedding", "SIMILAR_ST"


def _check(corpus: str, stored: Sequence[Row], encoder: encoders.Encoder) -> None:
    """Raise EncoderError where a corpus is embedded with another encoder than this one."""
    part, remedy = "dimension", "leave --encoder out, or embed everything anew with --edges knn-st"
    if isinstance(encoder, encoders.MdrEncoder):
        part, remedy = "fingerprint", "embed everything anew with --edges knn-mdr"
    for row in stored:
        if (row["encoder"], row[part]) != (encoder.name, getattr(encoder, part)):
            raise EncoderError(
                f"the corpus {corpus!r} is embedded with {row['encoder']} ({part} {row[part]}), "
                f"not with {encoder.name} ({part} {getattr(encoder, part)})",
                hint=f"Vectors of two encoders cannot be compared: {remedy} --replace-embeddings.",
            )
