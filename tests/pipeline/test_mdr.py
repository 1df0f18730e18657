"""The MDR encoder: what it learns from, how it trains, its graph, and the agent that follows it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from commands import environment
from graphs import rows, write_jsonl
from safetensors.numpy import load_file
from small_graphs import FILMS, edges

from kgp_neo4j.cli import cli
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.delete import delete_document
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.corpus.traverse.agents.choice import make_agent
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.evaluate.searches import MdrSearch
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.mdr import QueryForm, load_mdr
from kgp_neo4j.models.mdr_folder import (
    DEFAULT_FOLDER,
    DEFAULT_MDR,
    EXPORTED,
    MDR_FILE,
    Lengths,
    read_mdr_folder,
)
from kgp_neo4j.models.torch_encoder import TorchTransformer, load_mdr_model
from kgp_neo4j.train import trainer
from kgp_neo4j.train.chains import SupportingFact
from kgp_neo4j.train.examples import TrainingQuestion
from kgp_neo4j.train.mdr import MdrReport, MdrTraining, train_mdr
from kgp_neo4j.train.mdr_pairs import (
    MdrPair,
    corpus_pairs,
    gather_pairs,
    labelled_pairs,
    retrieved_negatives,
)
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import (
    ConfigurationError,
    CorpusError,
    EncoderError,
    KgpError,
    ModelError,
)
from kgp_neo4j.types.settings import (
    AgentSettings,
    MdrSettings,
    SimilaritySettings,
    TraversalSettings,
)

_NAMES = ("Abel", "Bruno", "Cora", "Dinah", "Edgar", "Flora", "Gus", "Hilda")
_TRADES = ("baker", "cooper", "dyer", "fuller", "glazier", "joiner", "mason", "potter")
_BRIDGES = ("Arch", "Birch", "Crane", "Delta", "Ember", "Fjord", "Grove", "Heron")


def _documents(at: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return a bridge, and who built it."""
    return (
        (f"{_BRIDGES[at]} Bridge", f"A bridge of stone. {_NAMES[at]} Quist built it."),
        (f"{_NAMES[at]} Quist", f"Once a {_TRADES[at]}. Lived by the sea for long."),
    )


def _labelled(path: Path) -> Path:
    """Write eight questions over two documents each, in HotpotQA's form."""
    lines = []
    for at in range(len(_NAMES)):
        context = [*_documents(at), *_documents((at + 1) % 8), *_documents((at + 3) % 8)]
        lines.append(
            {
                "_id": str(at),
                "type": "bridge",
                "question": f"What was the builder of {_BRIDGES[at]} Bridge once?",
                "answer": f"a {_TRADES[at]}",
                "supporting_facts": [[title, 0] for title, _ in context[:2]] + [[context[0][0], 1]],
                "context": [
                    [title, [f"{text.split('. ')[0]}.", f" {text.split('. ')[1]}"]]
                    for title, text in context
                ],
            }
        )
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _labelled(tmp_path_factory.mktemp("labelled") / "train.jsonl")


@pytest.fixture(scope="module")
def pairs(labelled: Path) -> list[MdrPair]:
    return gather_pairs([labelled])[0]


@pytest.fixture(scope="module")
def tiny_mdr(
    pairs: list[MdrPair], tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The folder of an MDR encoder on the tiny one, after a few steps."""
    out = tmp_path_factory.mktemp("mdr") / "tiny"
    train_mdr(pairs, out, MdrTraining(encoder=tiny_encoder, batch=4, steps=3))
    return str(out)


# --- What it learns from --------------------------------------------------------------------------


def test_labelled_questions_give_every_hop(pairs: list[MdrPair]) -> None:
    assert len(pairs) == 16
    bridge, builder = _documents(0)
    first, second = pairs[:2]
    question = "What was the builder of Arch Bridge once?"
    assert (first.question, first.before, first.positive) == (question, (), bridge)
    assert (second.question, second.before, second.positive) == (question, (bridge,), builder)
    others = {text for at in (1, 3) for text in _documents(at)}
    for pair in pairs[:2]:
        assert len(pair.negatives) == len(set(pair.negatives)) == 2
        assert set(pair.negatives) <= others


def test_a_comparison_begins_on_either_side() -> None:
    a, b = (SupportingFact(name, f"{name} is old.", f"{name} is old.") for name in ("Ada", "Ivo"))
    asked = TrainingQuestion("1", "Who is older?", "Ada", (a, b), starts=(0, 1))
    found = [(p.before, p.positive) for p in labelled_pairs([asked])]
    ada, ivo = ("Ada", "Ada is old."), ("Ivo", "Ivo is old.")
    assert found == [((), ada), ((ada,), ivo), ((), ivo), ((ivo,), ada)]


def test_a_corpus_gives_hard_negatives(
    database: Database, corpus: str, labelled: Path, tmp_path: Path
) -> None:
    texts = [text for at in range(8) for text in _documents(at)]
    # The same fact as the corpus has it: no other title, only other white space.
    again = ("A copy", _documents(0)[0][1].replace(" ", "  "))
    load(database, [write_jsonl(tmp_path / "records.jsonl", *texts, again)], corpus)
    asked = [
        TrainingQuestion(
            "1",
            "What was the builder of Arch Bridge once?",
            "a baker",
            tuple(SupportingFact(title, text, text) for title, text in _documents(0)),
        )
    ]
    (found,) = retrieved_negatives(database, corpus, asked, limit=3)
    assert len(found) == 3
    assert set(found) <= set(texts[2:])
    (first, second) = labelled_pairs(asked, negatives=4, retrieved=[found])
    assert set(first.negatives) | set(second.negatives) <= set(found)
    made, sources = gather_pairs([labelled], database, corpus)
    assert list(sources.values()) == [len(made)] == [16]
    assert "train.jsonl" in next(iter(sources))
    for pair in made:
        # Half of the two are from the corpus, and neither is a fact of the question.
        assert len(set(pair.negatives)) == 2
        assert pair.positive not in pair.negatives


def test_a_corpus_without_labels(database: Database, corpus: str, tmp_path: Path) -> None:
    texts = dict(FILMS)
    load(database, [write_jsonl(tmp_path / "records.jsonl", *FILMS)], corpus)
    connect(database, corpus, similarity=SimilaritySettings(neighbours=2))
    made = corpus_pairs(database, corpus, pairs=100, masked=1.0)
    named = [pair for pair in made if pair.before]
    assert {(pair.before[0][0], pair.positive[0]) for pair in named} == {
        ("Ed Wood (film)", "Tim Burton"),
        ("Ed Wood (film)", "Cult film"),
        ("Tim Burton", "Ed Wood (film)"),
        ("Burbank", "Tim Burton"),
    }
    for pair in named:
        assert pair.before[0][1] == texts[pair.before[0][0]]
        assert pair.positive[1] == texts[pair.positive[0]]
        assert "…" in pair.question
        assert pair.positive[0].split(" (")[0].lower() not in pair.question.split("…")[0].lower()
        assert pair.positive not in pair.negatives
    cloze = [pair for pair in made if not pair.before]
    assert {pair.positive[0] for pair in cloze} == {"Cult film", "It"}
    for pair in cloze:
        assert pair.question in texts[pair.positive[0]]
        assert pair.question not in pair.positive[1]
        assert len(pair.question) + len(pair.positive[1]) + 1 == len(texts[pair.positive[0]])
    # The same seed, the same pairs; no more than were asked for; half of them name a title.
    assert corpus_pairs(database, corpus, pairs=100, masked=1.0) == made
    others = [corpus_pairs(database, corpus, pairs=100, masked=1.0, seed=n) for n in range(1, 6)]
    assert any(other != made for other in others)
    assert all(
        "…" not in pair.question for pair in corpus_pairs(database, corpus, pairs=9, masked=0)
    )
    few = corpus_pairs(database, corpus, pairs=4)
    assert sum(bool(pair.before) for pair in few) == 2
    assert len(few) <= 4


def test_the_query_keeps_something_of_every_passage(tiny_encoder: str) -> None:
    form = QueryForm(load_encoder(tiny_encoder).tokenizer, Lengths(4, 6, 24))
    long = "a b c d e f g h i j k l m n o p"
    (alone, path) = form.queries([(long, []), (long, [("x", long), ("y", long), ("z", "a b")])])
    assert alone == "a b c d"
    # 24 without both ends, the question and three separators leave 15: five for each passage.
    assert path == "a b c d [SEP] x. a b c [SEP] y. a b c [SEP] z. a b"
    assert form.passages([("x", long), ("y", "")]) == ["x. a b c d", "y."]
    assert form.queries([]) == []
    assert len(form.tokenizer.encode(path).ids) <= 24


# --- Training -------------------------------------------------------------------------------------


def _ranks(folder: str, pairs: Sequence[MdrPair], *, plain: bool = False) -> list[int]:
    """Return how many passages of all come before the right one, for each pair."""
    encoder = load_mdr(folder)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.positive, *pair.before)))
    targets = encoder.encode_passages(texts)
    queries = encoder.encode_queries([(pair.question, pair.before) for pair in pairs])
    scores = queries @ targets.T
    right = [scores[at, texts.index(pair.positive)] for at, pair in enumerate(pairs)]
    return [int((row > best).sum()) for row, best in zip(scores, right, strict=True)]


def _trained(
    pairs: list[MdrPair], encoder: str, out: Path, lora_rank: int, rate: float
) -> MdrReport:
    settings = MdrTraining(
        encoder=encoder, lora_rank=lora_rank, batch=8, steps=120, learning_rate=rate
    )
    return train_mdr(pairs, out, settings, sources={"eight questions": 16})


@pytest.fixture(scope="module")
def learnt(
    pairs: list[MdrPair], tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory
) -> MdrReport:
    """All weights of the tiny encoder, trained until it knows its questions."""
    return _trained(pairs, tiny_encoder, tmp_path_factory.mktemp("learnt") / "out", 0, 3e-3)


@pytest.mark.slow
@pytest.mark.train
@pytest.mark.parametrize(("lora_rank", "share"), [(0, 0.1), (8, 0.9)])
def test_training_learns_what_comes_next(
    pairs: list[MdrPair],
    tiny_encoder: str,
    tiny_mdr: str,
    tmp_path: Path,
    learnt: MdrReport,
    lora_rank: int,
    share: float,
) -> None:
    report = learnt
    if lora_rank:
        report = _trained(pairs, tiny_encoder, tmp_path / "out", lora_rank, 1e-2)
    out = Path(report.folder)
    assert (report.pairs, report.steps) == (16, 120)
    assert report.last_loss < share * report.first_loss
    before, after = _ranks(tiny_mdr, pairs), _ranks(str(out), pairs)
    assert np.mean(after) < 0.5 * np.mean(before)
    assert sum(rank == 0 for rank in after) > 2 * sum(rank == 0 for rank in before)
    # What is saved is small with LoRA, and safetensors either way; nothing of the run stays.
    files = {p.relative_to(out).as_posix() for p in out.rglob("*")}
    files.remove(EXPORTED.with_suffix(".bin").as_posix())  # numbers alone, as OpenVINO keeps them
    assert not [name for name in files if name.endswith((".bin", ".pt", ".pth", ".pkl"))]
    assert ("adapter/adapter_model.safetensors" in files) == (lora_rank > 0)
    assert ("model/model.safetensors" in files) == (lora_rank == 0)
    assert "checkpoints" not in files
    made = json.loads((out / MDR_FILE).read_text())
    assert (made["encoder"], made["lora_rank"]) == (tiny_encoder, lora_rank)
    assert made["lengths"] == {"question": 70, "passage": 300, "query": 350}
    assert made["training"]["sources"] == {"eight questions": 16}
    assert "- Pairs of eight questions: 16" in (out / "README.md").read_text()


class _Stopping:
    """A bar that is interrupted, as by Ctrl-C, after a number of steps."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def update(self, n: int = 1) -> None:
        self._left -= n
        if self._left <= 0:
            raise KeyboardInterrupt

    def __enter__(self) -> _Stopping:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.mark.slow
@pytest.mark.train
@pytest.mark.parametrize("lora_rank", [0, 4])
def test_a_training_that_is_stopped_goes_on(
    pairs: list[MdrPair],
    tiny_encoder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lora_rank: int,
) -> None:
    settings = MdrTraining(encoder=tiny_encoder, lora_rank=lora_rank, batch=4, steps=8)
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    first = train_mdr(pairs, whole, settings, save_every=2)
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "bar", lambda *_: _Stopping(5))
        with pytest.raises(KeyboardInterrupt):
            train_mdr(pairs, halved, settings, save_every=2)
    # What is not finished is not taken for an encoder, and goes on with the same data only.
    with pytest.raises(EncoderError):
        load_mdr(str(halved))
    with pytest.raises(ConfigurationError, match=r"other settings \(data\)") as raised:
        train_mdr(pairs[1:], halved, settings)
    assert "--overwrite" in str(raised.value)
    second = train_mdr(pairs, halved, settings, save_every=2)
    assert (first.resumed, second.resumed) == (0, 4)
    assert second.last_loss == pytest.approx(first.last_loss, rel=1e-3)
    name = "adapter/adapter_model.safetensors" if lora_rank else "model/model.safetensors"
    for key, value in load_file(whole / name).items():
        np.testing.assert_allclose(load_file(halved / name)[key], value, atol=1e-5)
    before = (halved / name).stat().st_mtime_ns
    third = train_mdr(pairs, halved, settings)
    assert third == replace(second, done_before=True)
    assert (halved / name).stat().st_mtime_ns == before
    assert train_mdr(pairs[1:], halved, settings, overwrite=True).pairs == 15


@pytest.mark.parametrize(
    "wrong",
    [
        {"lora_rank": -1},
        {"batch": 1},
        {"learning_rate": 2.0},
    ],
    ids=str,
)
def test_settings_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=f"{next(iter(wrong))} is"):
        MdrTraining(**wrong)


@pytest.mark.train
def test_what_training_refuses(
    database: Database, corpus: str, pairs: list[MdrPair], tiny_encoder: str, tmp_path: Path
) -> None:
    settings = MdrTraining(encoder=tiny_encoder, steps=1)
    with pytest.raises(ConfigurationError, match="nothing to train from"):
        gather_pairs([])
    with pytest.raises(CorpusError, match="there is no corpus named 'no such'"):
        gather_pairs([], database, "no such")
    load(database, [write_jsonl(tmp_path / "records.jsonl", ("One", "A short one."))], corpus)
    with pytest.raises(CorpusError, match="nothing to learn from") as raised:
        gather_pairs([], database, corpus)
    assert "kgp-neo4j connect" in str(raised.value)
    with pytest.raises(ConfigurationError, match="too few"):
        train_mdr(pairs[:1], tmp_path / "out", settings)
    nowhere = MdrTraining(encoder=str(tmp_path / "none"), steps=1)
    with pytest.raises(EncoderError, match="could not be loaded"):
        train_mdr(pairs, tmp_path / "out", nowhere)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="no training made"):
        train_mdr(pairs, tmp_path / "full", settings)
    with pytest.raises(ModelError, match="cannot be written"):
        train_mdr(pairs, tmp_path / "full" / "thesis.txt" / "out", settings)
    assert (tmp_path / "full" / "thesis.txt").read_text() == "mine"


# --- Loading --------------------------------------------------------------------------------------


@pytest.mark.train
def test_a_folder_loads_as_an_encoder_and_as_an_mdr_encoder(tiny_mdr: str) -> None:
    encoder, mdr = load_encoder(tiny_mdr), load_mdr(tiny_mdr)
    assert encoder.name == mdr.name == tiny_mdr
    assert encoder.dimension == mdr.dimension == 32
    assert len(mdr.fingerprint) == 12
    vectors = mdr.encode_passages([("Arch Bridge", "It is long.")])
    np.testing.assert_array_equal(vectors, encoder.encode(["Arch Bridge. It is long."]))
    assert np.linalg.norm(vectors) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.train
def test_both_engines_make_the_same_vectors_of_what_was_trained(tiny_mdr: str) -> None:
    folder = Path(tiny_mdr)
    model = load_mdr_model(folder, read_mdr_folder(folder), precise=True)
    texts = ["Arch Bridge. It is long.", "", "who built the bridge of the ferry " * 60]
    torch = Encoder(tiny_mdr, TorchTransformer(*model)).encode(texts)
    assert (torch * load_encoder(tiny_mdr).encode(texts)).sum(axis=1).min() > 0.999


@pytest.mark.train
def test_the_encoder_that_comes_along_is_its_adapter_in_both_engines() -> None:
    made = read_mdr_folder(DEFAULT_FOLDER)
    assert made.upon_default
    model = load_mdr_model(DEFAULT_FOLDER, made, precise=True)
    texts = ["Arch Bridge. It is long.", "who built the bridge of the ferry " * 90]
    torch = Encoder("torch", TorchTransformer(*model)).encode(texts)
    encoder = load_mdr()
    assert encoder.name == DEFAULT_MDR
    light = encoder.encode_passages([("Arch Bridge", "It is long.")])
    assert (torch[:1] * light).sum() > 0.999
    both = load_encoder(DEFAULT_MDR).encode(texts)
    assert (torch * both).sum(axis=1).min() > 0.999
    # It is another encoder than the one that it starts from.
    assert (load_encoder().encode(texts) * both).sum(axis=1).max() < 0.999


def test_it_makes_the_graph_where_no_other_is_named(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    _store(database, corpus, tmp_path, *FILMS)
    assert _mdr(database, corpus, None)[0] == 5
    (kept,) = database.read("inspect/encoder", corpus=corpus, graph="mdr")
    assert kept["encoder"] == DEFAULT_MDR


def _break(folder: Path, how: str) -> None:
    weights = folder / "adapter" / "adapter_model.safetensors"
    exported = folder / EXPORTED.with_suffix(".bin")
    description = folder / MDR_FILE
    if how == "weights":
        weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    elif how == "exported":
        exported.write_bytes(exported.read_bytes()[:-1] + b"\1")
    elif how == "no weights":
        weights.unlink()
    else:
        value = json.loads(description.read_text(encoding="utf-8"))
        del value["lengths"]
        description.write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.train
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("weights", "not those it was saved with"),
        ("exported", "not those it was saved with"),
        ("no weights", "cannot be read"),
        ("no lengths", "cannot be read"),
    ],
)
def test_a_damaged_folder(tiny_mdr: str, tmp_path: Path, how: str, said: str) -> None:
    shutil.copytree(tiny_mdr, tmp_path / "copy")
    _break(tmp_path / "copy", how)
    with pytest.raises(EncoderError, match=said) as raised:
        load_mdr(str(tmp_path / "copy"))
    assert raised.value.where is not None
    assert "train mdr" in str(raised.value)


def test_mdr_without_a_graph(database: Database, demo_corpus: str, tiny_mdr: str) -> None:
    search = MdrSearch(database, demo_corpus, 6, tiny_mdr)
    question = "Who designed the Hesk Bridge?"
    found = search.retrieve(Question("1", question))
    assert len({passage.id for passage in found.passages}) == 6
    # The same pairs, one after the other.
    mdr, texts = load_mdr(tiny_mdr), [(p.title, p.text) for p in search._passages]
    vectors = mdr.encode_passages(texts)
    first = vectors @ mdr.encode_queries([(question, [])])[0]
    begun = np.argsort(-first, kind="stable")[:6]
    pairs = {
        (int(a), b): float(first[a] + vectors[b] @ mdr.encode_queries([(question, [texts[a]])])[0])
        for a in begun
        for b in range(len(texts))
        if a != b
    }
    best = max(pairs, key=lambda pair: pairs[pair])
    assert [(p.title, p.text) for p in found.passages[:2]] == [texts[at] for at in best]


# --- The graph ------------------------------------------------------------------------------------


def _store(database: Database, corpus: str, tmp_path: Path, *texts: tuple[str, str]) -> None:
    load(database, [write_jsonl(tmp_path / "records.jsonl", *texts)], corpus)


def _mdr(database: Database, corpus: str, model: str | None, **settings: Any) -> tuple[int, int]:
    report = connect(database, corpus, edges=["knn-mdr"], mdr=MdrSettings(model, **settings))
    return report.mdr_embedded, report.mdr_edges


@pytest.mark.train
def test_the_graph_is_made_of_its_own_embeddings(
    database: Database, corpus: str, tmp_path: Path, tiny_mdr: str
) -> None:
    _store(database, corpus, tmp_path, *FILMS)
    connect(database, corpus)
    similar = edges(database, corpus, "SIMILAR_ST")
    assert _mdr(database, corpus, tiny_mdr, neighbours=2) == (5, 10)
    assert edges(database, corpus, "SIMILAR_ST") == similar
    state = database.read("inspect/corpus", corpus=corpus)[0]
    assert {"keywords", "mdr", "similarity"} <= set(state["connected"])
    assert (state["encoder"], state["unconnected"]) == ("all-MiniLM-L6-v2", 0)
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c}) RETURN p.id AS id, p.title AS title, p.text AS text, "
        "p.mdrEmbedding AS v, size(p.embedding) AS st ORDER BY id",
        c=corpus,
    )
    assert {row["st"] for row in found} == {384}
    vectors = load_mdr(tiny_mdr).encode_passages([(row["title"], row["text"]) for row in found])
    np.testing.assert_allclose([row["v"] for row in found], vectors, atol=1e-4)
    # Of five, KNN finds the nearest themselves: each has its two, and their cosines.
    made = edges(database, corpus, "SIMILAR_MDR")
    names = [row["id"].rsplit("/", 1)[-1] for row in found]
    cosines = vectors @ vectors.T - 2 * np.eye(5)
    for at, name in enumerate(names):
        nearest = sorted((e["score"] for a, _, e in made if a == name), reverse=True)
        wanted = sorted((1 + cosines[at]) / 2, reverse=True)[:2]
        np.testing.assert_allclose(nearest, wanted, atol=1e-3)
    # Again, with what the corpus remembers: nothing is embedded twice and no edge is left over.
    assert _mdr(database, corpus, None, neighbours=1) == (0, 5)
    _store(database, corpus, tmp_path, *FILMS, ("Maine", "A state."))
    assert database.read("inspect/corpus", corpus=corpus)[0]["unconnected"] == 1
    assert _mdr(database, corpus, tiny_mdr, neighbours=1) == (1, 6)
    delete_document(database, corpus, "Maine")
    assert len(edges(database, corpus, "SIMILAR_MDR")) in (4, 5)


@pytest.mark.train
def test_what_the_graph_refuses(
    database: Database,
    corpus: str,
    tmp_path: Path,
    pairs: list[MdrPair],
    tiny_encoder: str,
    tiny_mdr: str,
) -> None:
    _store(database, corpus, tmp_path, *FILMS)
    for model, error, said in (
        (str(tmp_path / "none"), EncoderError, "could not be loaded"),
        (tiny_encoder, EncoderError, "train mdr"),
    ):
        with pytest.raises(error) as raised:
            _mdr(database, corpus, model)
        assert said in str(raised.value)
    with pytest.raises(ConfigurationError, match="neighbours is 0"):
        _mdr(database, corpus, tiny_mdr, neighbours=0)
    assert _mdr(database, corpus, tiny_mdr)[0] == 5
    before = edges(database, corpus, "SIMILAR_MDR")
    other = tmp_path / "other"
    train_mdr(pairs, other, MdrTraining(encoder=tiny_encoder, batch=4, steps=3, seed=1))
    with pytest.raises(EncoderError, match="is embedded with the MDR encoder") as raised:
        _mdr(database, corpus, str(other))
    assert "--replace-embeddings" in str(raised.value)
    assert edges(database, corpus, "SIMILAR_MDR") == before
    assert _mdr(database, corpus, str(other), replace=True)[0] == 5
    assert database.read("inspect/encoder", corpus=corpus, graph="mdr") == [
        {
            "encoder": str(other),
            "dimension": 32,
            "fingerprint": load_mdr(str(other)).fingerprint,
        }
    ]


# --- The agent ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.train
def test_the_agent_goes_where_its_encoder_points(
    database: Database, corpus: str, tmp_path: Path, learnt: MdrReport
) -> None:
    """After the bridge comes its builder: by what was learnt, since no keyword joins them."""
    _store(database, corpus, tmp_path, *(text for at in range(8) for text in _documents(at)))
    connect(database, corpus, edges=["tfidf", "knn-mdr"], mdr=MdrSettings(learnt.folder, 15))
    walk = TraversalSettings(
        seeds=1, branching=1, hops=1, budget=2, edges=("SIMILAR_MDR",), outward=0.0, inward=0.0
    )
    retriever = PassageRetriever(database, corpus, agent="mdr", settings=walk)
    assert retriever.agent.name == "mdr"
    right = 0
    for at in range(8):
        question = Question(str(at), f"What was the builder of {_BRIDGES[at]} Bridge once?")
        found = retriever.retrieve(question)
        (path,) = [path for path in found.paths if len(path.steps) == 2]
        titles = {passage.id: passage.title for passage in found.passages}
        assert titles[path.steps[0].passage] == f"{_BRIDGES[at]} Bridge"
        assert path.steps[1].edge == "SIMILAR_MDR"
        assert path.steps[1].reason.startswith("cosine ")
        right += titles[path.last] == f"{_NAMES[at]} Quist"
    assert right >= 6


@pytest.mark.slow
@pytest.mark.train
def test_what_the_agent_refuses(
    database: Database,
    corpus: str,
    tmp_path: Path,
    pairs: list[MdrPair],
    tiny_encoder: str,
    tiny_mdr: str,
) -> None:
    _store(database, corpus, tmp_path, *FILMS)
    connect(database, corpus)
    with pytest.raises(CorpusError, match="has no mdr graph yet") as raised:
        PassageRetriever(database, corpus, agent="mdr").open()
    assert "--edges knn-mdr" in str(raised.value)
    with pytest.raises(ConfigurationError, match="needs an MDR encoder"):
        make_agent("mdr", None)
    folder = tmp_path / "mine"
    shutil.copytree(tiny_mdr, folder)
    _mdr(database, corpus, str(folder))
    assert (
        PassageRetriever(database, corpus, agent="mdr").retrieve(Question("", "Ed Wood?")).passages
    )
    # The folder is gone: one with the same weights does as well, one with others does not.
    shutil.rmtree(folder)
    load_encoder.cache_clear()
    with pytest.raises(EncoderError, match="could not be loaded"):
        PassageRetriever(database, corpus, agent="mdr").open()
    given = AgentSettings(model=tiny_mdr)
    assert PassageRetriever(database, corpus, agent="mdr", agent_settings=given).agent.name == "mdr"
    train_mdr(pairs, folder, MdrTraining(encoder=tiny_encoder, batch=4, steps=3, seed=5))
    with pytest.raises(EncoderError, match="was made with other weights"):
        PassageRetriever(database, corpus, agent="mdr").open()


# --- The command line -----------------------------------------------------------------------------


def _run(connection: Connection, *arguments: str) -> Result:
    done = CliRunner().invoke(cli, arguments, env=environment(connection))
    assert done.exit_code == 0, f"{done.output} {done.exception}"
    return done


@pytest.mark.slow
@pytest.mark.train
def test_the_command_from_labels(
    connection: Connection, labelled: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    common = ("--encoder", tiny_encoder, "--max-steps", "2", "--out", str(tmp_path / "mdr"))
    done = _run(connection, "train", "mdr", str(labelled), *common)
    assert "Trained on 16 pairs in 2 steps" in done.stdout
    assert load_mdr(str(tmp_path / "mdr")).dimension == 32
    for wrong, said in (
        ((str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "x")), "none.jsonl"),
        (("--out", str(tmp_path / "x")), "nothing to train from"),
        ((str(labelled), *common, "--seed", "1"), "--overwrite"),
    ):
        done = CliRunner().invoke(cli, ("train", "mdr", *wrong), env=environment(connection))
        assert isinstance(done.exception, KgpError)
        assert said in str(done.exception)
