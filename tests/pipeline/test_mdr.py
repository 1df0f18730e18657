"""The bundled MDR encoder: its vectors, its graph, and the agent that follows it."""

from pathlib import Path

import numpy as np
import pytest
from graphs import load_records, rows
from small_graphs import FILMS, edges

from kgp_neo4j import Database, Question, TraversalSettings
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.delete import delete_document
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.models import mdr as bundled
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.mdr import load_mdr
from kgp_neo4j.models.torch_encoder import TorchTransformer, load_model
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, EncoderError
from kgp_neo4j.types.settings import MdrSettings


def test_the_query_keeps_something_of_every_passage() -> None:
    mdr = load_mdr()
    long = "one two three four five six seven eight nine ten " * 40
    alone = mdr.query_text(long, [])
    assert len(alone.split()) == 70
    path = mdr.query_text(long, [("x", long), ("y", long), ("z", "a b")])
    question, *passages = path.split(" [SEP] ")
    assert question == alone
    # 350 without both ends, the question and three separators leave 275: 91 for each passage.
    assert [text[:4] for text in passages] == ["x. o", "y. o", "z. a"]
    assert [len(text.split()) for text in passages] == [90, 90, 3]
    assert len(load_encoder().tokenizer.encode(path).ids) <= 350


@pytest.mark.slow
@pytest.mark.train
def test_it_is_its_adapter_on_the_default_encoder_in_torch() -> None:
    from peft import PeftModel

    model = load_model("all-MiniLM-L6-v2", precise=True)
    PeftModel.from_pretrained(model[0].auto_model, str(bundled._ADAPTER)).merge_and_unload()
    model.max_seq_length = 350
    texts = ["Arch Bridge. It is long.", "who built the bridge of the ferry " * 40]
    torch = Encoder("torch", TorchTransformer(model)).encode(texts)
    light = load_mdr().encode_passages([tuple(texts[0].split(". ")), (texts[1], "")])  # type: ignore[list-item]
    assert (torch[:1] * light[:1]).sum() > 0.999
    assert (torch[1] * light[1]).sum() > 0.99  # with the mark after a title
    assert (load_encoder().encode(texts) * light).sum(axis=1).max() < 0.999


def _connect(database: Database, corpus: str, neighbours: int = 10, **settings: bool) -> int:
    made = MdrSettings(neighbours, **settings)
    return connect(database, corpus, edges=["knn-mdr"], mdr=made).mdr_embedded


def test_the_graph_has_its_own_embeddings(database: Database, joined: str, tmp_path: Path) -> None:
    similar = edges(database, joined, "SIMILAR_ST")
    assert _connect(database, joined, 2) == 5
    assert edges(database, joined, "SIMILAR_ST") == similar
    state = database.read("inspect/corpus", corpus=joined)[0]
    assert {"keywords", "mdr", "similarity"} <= set(state["connected"])
    assert (state["encoder"], state["unconnected"]) == ("all-MiniLM-L6-v2", 0)
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c}) RETURN p.id AS id, p.title AS title, p.text AS text, "
        "p.mdrEmbedding AS v ORDER BY id",
        c=joined,
    )
    vectors = load_mdr().encode_passages([(row["title"], row["text"]) for row in found])
    # Apart by the company that a text has in a batch alone.
    np.testing.assert_allclose([row["v"] for row in found], vectors, atol=0.02)
    stored = np.array([row["v"] for row in found], np.float32)
    made = edges(database, joined, "SIMILAR_MDR")
    names = [row["id"].rsplit("/", 1)[-1] for row in found]
    cosines = stored @ stored.T - 2 * np.eye(5)
    for at, name in enumerate(names):
        nearest = sorted((e["score"] for a, _, e in made if a == name), reverse=True)
        wanted = sorted((1 + cosines[at]) / 2, reverse=True)[:2]
        np.testing.assert_allclose(nearest, wanted, atol=1e-3)
    # Again: nothing is embedded twice and no edge is left over.
    assert _connect(database, joined, 1) == 0
    assert len(edges(database, joined, "SIMILAR_MDR")) == 5
    load_records(database, joined, tmp_path, *FILMS, ("Maine", "A state."))
    assert database.read("inspect/corpus", corpus=joined)[0]["unconnected"] == 1
    assert _connect(database, joined, 1) == 1
    assert len(edges(database, joined, "SIMILAR_MDR")) == 6
    delete_document(database, joined, "Maine")
    assert len(edges(database, joined, "SIMILAR_MDR")) in (4, 5)


def test_the_agent_follows_the_graph(database: Database, joined: str) -> None:
    with pytest.raises(CorpusError, match=r"has no mdr graph yet.*--edges knn-mdr"):
        PassageRetriever(database, joined, agent="mdr").open()
    with pytest.raises(ConfigurationError, match="neighbours is 0"):
        _connect(database, joined, 0)
    _connect(database, joined, 4)
    walk = TraversalSettings(seeds=1, branching=1, hops=1, budget=2, edges=("SIMILAR_MDR",))
    retriever = PassageRetriever(database, joined, agent="mdr", settings=walk)
    found = retriever.retrieve(Question("", "Where was the director of Ed Wood born?"))
    (path,) = [path for path in found.paths if len(path.steps) == 2]
    assert path.steps[1].edge == "SIMILAR_MDR"
    assert path.steps[1].reason.startswith("cosine ")


def test_a_graph_of_another_encoder_is_refused(database: Database, joined: str) -> None:
    _connect(database, joined)
    before = edges(database, joined, "SIMILAR_MDR")
    rows(database, "MATCH (g:Graph {corpus: $c, type: 'mdr'}) SET g.fingerprint = 'x'", c=joined)
    with pytest.raises(EncoderError, match=r"fingerprint x.*--edges knn-mdr --replace-emb"):
        _connect(database, joined)
    assert edges(database, joined, "SIMILAR_MDR") == before
    with pytest.raises(EncoderError, match="fingerprint x"):
        PassageRetriever(database, joined, agent="mdr").open()
    assert _connect(database, joined, replace=True) == 5
    (kept,) = database.read("inspect/encoder", corpus=joined, graph="mdr")
    assert (kept["dimension"], kept["fingerprint"]) == (384, load_mdr().fingerprint)
