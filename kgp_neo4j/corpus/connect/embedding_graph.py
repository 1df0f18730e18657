"""Makes the KNN graphs: embeds passages, and joins each to its nearest."""

import dataclasses
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

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


def connect_nearest(
    database: Database,
    corpus: str,
    encoder: Encoder,
    settings: SimilaritySettings | MdrSettings,
    seconds: dict[str, float],
    *,
    anew: bool = False,
) -> None:
    """Join the embedded passages to their nearest.

    Where few passages are new or lost a neighbour, only their edges and those to them are made, all
    where `anew` is true or the number of neighbours is another than before. The graph counts as
    made after `finish_nearest`. `seconds` gets the duration of each step.
    """
    graph, space, edges = _space_of(encoder)
    with timed(seconds, "similarity edges"):
        (state,) = database.read("inspect/encoder", corpus=corpus, graph=graph)
        stored = json.loads(state["settings"]) if state["settings"] else {}
        every = anew or stored.get("neighbours") != settings.neighbours
        if every:
            database.write("connect/begin", corpus=corpus, graph=graph)
        join_nearest(database, corpus, space, edges, settings.neighbours, every=every)
        if state["indexed"]:
            # The first time that of the vectors, which the server makes beside what comes next.
            make_indexes(database, corpus)


def finish_nearest(
    database: Database,
    corpus: str,
    encoder: Encoder,
    settings: SimilaritySettings | MdrSettings,
    seconds: dict[str, float],
) -> None:
    """Wait until the embeddings' index can be asked, and let the graph count as made.

    `seconds` gets the duration.
    """
    with timed(seconds, "vector index"):
        database.read("install/await_indexes")
    graph, _, _ = _space_of(encoder)
    values = json.dumps(dataclasses.asdict(settings), sort_keys=True)
    database.write("connect/finish", corpus=corpus, graph=graph, settings=values)


def embed_passages(
    database: Database, corpus: str, encoder: Encoder, seconds: dict[str, float], *, replace: bool
) -> int:
    """Embed the passages without an embedding, or all, and return how many these were.

    It goes on from where a run stopped. `seconds` gets the duration of each step.
    """
    graph, space, _ = _space_of(encoder)
    found = database.stream("connect/unembedded", corpus=corpus, property=space, replace=replace)
    # Longest first, so that a batch wastes no work on padding; the texts are read again when they
    # are encoded, since all together take much memory.
    ids = [id_ for _, id_ in sorted((-len(row["text"]), row["id"]) for row in found)]
    if replace:
        # Until it is finished, nothing can be compared with the new vectors.
        values = {"corpus": corpus, "graph": graph}
        database.write("connect/begin", **values, keep=False)
        database.write_in_batches("connect/remove_embeddings", **values, property=space)
    stored = database.write(
        "connect/encoder", corpus=corpus, graph=graph,
        encoder=encoder.name, dimension=encoder.dimension, fingerprint=encoder.fingerprint,
    )  # fmt: skip
    _check(corpus, stored, encoder)  # another run may have come first
    if len(ids) >= _MANY:
        with timed(seconds, "embed"):
            read = database.read("connect/texts", ids=ids[:: len(ids) // 16][:16])
            encoder = choose_network(encoder, [(row["title"], row["text"]) for row in read])

    def write(read: Sequence[Row], vectors: NDArray[np.float32]) -> None:
        with timed(seconds, "write embeddings"):
            rows = [
                {"id": row["id"], "vector": vector.tolist()}
                for row, vector in zip(read, vectors, strict=True)
            ]
            database.write("connect/embeddings", rows=rows, property=space)

    # One batch is written while the next is encoded; it is encoded here, where Ctrl-C ends it.
    with bar("embed", len(ids), "passages") as progress, ThreadPoolExecutor(1) as beside:
        writing = None
        for start in range(0, len(ids), _BATCH):
            with timed(seconds, "embed"):
                read = database.read("connect/texts", ids=ids[start : start + _BATCH])
                texts = [(row["title"], row["text"]) for row in read]
                vectors = encode_kept(encoder, texts, progress.update)
            if writing:
                writing.result()
            writing = beside.submit(in_context(write), read, vectors)
        if writing:
            writing.result()
    return len(ids)


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
