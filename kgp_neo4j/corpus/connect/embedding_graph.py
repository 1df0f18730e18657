"""Makes the KNN graphs: embeds passages, and joins each to its nearest."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.build import timed
from kgp_neo4j.corpus.connect.nearest import join_nearest
from kgp_neo4j.corpus.load.own_indexes import make_indexes
from kgp_neo4j.environment.job import in_context
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.models.encoder import Encoder, choose_network, encode_kept, load_encoder
from kgp_neo4j.models.mdr import MdrEncoder, load_mdr
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, QUICK_ENCODER
from kgp_neo4j.models.torch_encoder import gpu_is_usable
from kgp_neo4j.text.language import DEFAULT_LANGUAGE
from kgp_neo4j.types.errors import ConfigurationError, EncoderError
from kgp_neo4j.types.json_records import parts
from kgp_neo4j.types.settings import MdrSettings, SimilaritySettings

#: Passages encoded and then written in one transaction, after which a run can stop. Larger ones are
#: better for the vector index, which gets a segment from each.
_BATCH = 2_000
#: Passages from which on the full encoder would take minutes.
_LARGE = 10_000
#: From this many on, it is worth while to find the encoder's quickest network.
_MANY = 1_000


def choose_encoder(
    database: Database, corpus: str, settings: SimilaritySettings | MdrSettings
) -> Encoder:
    """Return the MDR encoder, or the encoder in `settings`, else the corpus's or the default one.

    The default is the full encoder, and its quick form for a large corpus in English where there is
    no GPU. Raises ConfigurationError for a number of neighbours that is out of range, and
    EncoderError when the corpus was embedded with another encoder and is not embedded anew.
    """
    if not 1 <= settings.neighbours <= 1000:
        raise ConfigurationError(
            f"neighbours is {settings.neighbours}", hint="Choose a number from 1 to 1000."
        )
    if isinstance(settings, MdrSettings):
        stored = database.read("inspect/encoder", corpus=corpus, graph="mdr")
        encoder: Encoder = load_mdr()
    else:
        stored = database.read("inspect/encoder", corpus=corpus, graph="similarity")
        name = settings.encoder or (stored[0]["encoder"] if stored else None)
        if name is None:
            (made,) = database.read("connect/made", corpus=corpus)
            is_english = made["language"] == DEFAULT_LANGUAGE and 2 * made["cjk"] < made["passages"]
            is_quick = made["passages"] >= _LARGE and is_english and not gpu_is_usable()
            name = QUICK_ENCODER if is_quick else DEFAULT_ENCODER
        encoder = load_encoder(name)
    if not settings.replace:
        _check(corpus, stored, encoder)
    return encoder


@dataclass(frozen=True, slots=True)
class EmbeddingGraph:
    """The embeddings of a corpus and the graph of the nearest, while a run of `connect` makes them.

    `seconds` gets the duration of each step.
    """

    database: Database
    corpus: str
    encoder: Encoder
    settings: SimilaritySettings | MdrSettings
    seconds: dict[str, float]

    def embed(self) -> int:
        """Embed the passages without an embedding, or all, and return how many these were.

        It goes on from where a run stopped.
        """
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
                encoder = choose_network(encoder, texts)
        # One batch is written while the next is encoded; it is encoded here, where Ctrl-C ends it.
        with bar("embed", len(ids), "passages") as progress, ThreadPoolExecutor(1) as beside:
            writing = None
            for start in range(0, len(ids), _BATCH):
                with timed(self.seconds, "embed"):
                    batch, texts = self._read(ids[start : start + _BATCH])
                    vectors = encode_kept(encoder, texts, progress.update)
                if writing:
                    writing.result()
                writing = beside.submit(in_context(self._write), batch, vectors)
            if writing:
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
        """Join the embedded passages to their nearest.

        Where few passages are new or lost a neighbour, only their edges and those to them are made,
        all where `anew` is true or the number of neighbours is another than before. The graph
        counts as made after `finish`.
        """
        graph, space, edges = _space_of(self.encoder)
        database, corpus, neighbours = self.database, self.corpus, self.settings.neighbours
        with timed(self.seconds, "similarity edges"):
            (state,) = database.read("inspect/encoder", corpus=corpus, graph=graph)
            stored = json.loads(state["settings"]) if state["settings"] else {}
            every = anew or stored.get("neighbours") != neighbours
            if every:
                database.write("connect/begin", corpus=corpus, graph=graph)
            join_nearest(database, corpus, space, edges, neighbours, every=every)
            if state["indexed"]:
                # The first time that of the vectors, which the server makes beside what comes next.
                make_indexes(database, corpus)

    def finish(self) -> None:
        """Wait until the embeddings' index can be asked, and let the graph count as made."""
        with timed(self.seconds, "vector index"):
            self.database.read("install/await_indexes")
        graph, _, _ = _space_of(self.encoder)
        values = json.dumps(asdict(self.settings), sort_keys=True)
        self.database.write("connect/finish", corpus=self.corpus, graph=graph, settings=values)


def _space_of(encoder: Encoder) -> tuple[str, str, str]:
    """Return a graph's type, the property of its embeddings, and the type of its edges."""
    if isinstance(encoder, MdrEncoder):
        return "mdr", "mdrEmbedding", "SIMILAR_MDR"
    return "similarity", "embedding", "SIMILAR_ST"


def _check(corpus: str, stored: Sequence[Row], encoder: Encoder) -> None:
    """Raise EncoderError where a corpus is embedded with another encoder than this one."""
    part, remedy = "dimension", "leave --encoder out, or embed everything anew with --edges knn-st"
    if isinstance(encoder, MdrEncoder):
        part, remedy = "fingerprint", "embed everything anew with --edges knn-mdr"
    for row in stored:
        if (row["encoder"], row[part]) != (encoder.name, getattr(encoder, part)):
            raise EncoderError(
                f"the corpus {corpus!r} is embedded with {row['encoder']} ({part} {row[part]}), "
                f"not with {encoder.name} ({part} {getattr(encoder, part)})",
                hint=f"Vectors of two encoders cannot be compared: {remedy} --replace-embeddings.",
            )
