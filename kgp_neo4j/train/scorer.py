"""`train scorer`: the learned agent's trees, from questions with known supporting facts."""

import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.traverse.agents.learned import (
    FEATURES,
    QuestionSignals,
    candidates_of,
    search,
    seeds_of,
)
from kgp_neo4j.environment.job import bar
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.train.examples import read_training_questions
from kgp_neo4j.train.fitting import Folder
from kgp_neo4j.types.errors import ConfigurationError, CorpusError
from kgp_neo4j.types.settings import TraversalSettings

#: R@5 is reported: a reader gets five passages.
_FIRST = 5
#: A question's candidates: features, which of them are gold, and the question's weight.
_Group = tuple[NDArray[np.float32], NDArray[np.int32], float]

_TRAVERSAL = TraversalSettings()
_TREES, _FOLDS = 300, 5
#: LightGBM's, beside the seed.
_PARAMETERS = tomllib.loads(Path(__file__).with_name("scorer.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class ScorerReport:
    """The data and the results of a training."""

    questions: Mapping[str, int]
    left_out: Mapping[str, int]
    #: The share of facts among the first five passages, cross-validated, by corpus.
    reached: Mapping[str, float]


@dataclass(slots=True)
class _Asked:
    """A question with its gold passages, and the scores of the passages that a hop found for it."""

    corpus: str
    signals: QuestionSignals
    gold: list[set[str]]
    frontier: list[str]
    scores: dict[str, float] | None = None

    def best(self, number: int) -> list[str]:
        scores = self.scores or {}
        return sorted(scores, key=lambda p: (-scores[p], p))[:number]

    def reached(self) -> float:
        top = set(self.best(_FIRST))
        return sum(bool(gold & top) for gold in self.gold) / len(self.gold)


def train_scorer(
    database: Database,
    sets: Mapping[str, Path],
    out: Path,
    *,
    seed: int = 0,
    overwrite: bool = False,
) -> ScorerReport:
    """Train the trees of both hops and write them to `out`; return what they reach.

    `sets` are connected corpora with the files of questions whose supporting facts are in them. The
    first hop's trees learn from the seeds and their neighbours. Those of the later hops learn from
    the choices of trees that had not seen the question (five folds), so that they see the first
    hop's real errors. A question whose supporting facts are not all in the corpus is left out.
    Raises CorpusError where a corpus is not connected.
    """
    files = {corpus: file.name for corpus, file in sets.items()}
    folder = Folder(out, {"seed": seed, "sets": files}, overwrite=overwrite)
    encoders: set[str] = set()
    by_corpus: dict[str, list[_Asked]] = {}
    left_out: dict[str, int] = {}
    for corpus, file in sets.items():
        encoder, by_corpus[corpus], left_out[corpus] = _read(database, corpus, file)
        encoders.add(encoder)
    counts = {corpus: len(asked) for corpus, asked in by_corpus.items()}
    every = [question for asked in by_corpus.values() for question in asked]
    if not every:
        hint = "Give the questions that belong to the corpus: --set CORPUS=FILE."
        raise ConfigurationError("no question has its supporting facts in the corpus", hint=hint)
    hops = [_grown(database, every, seed) for _ in range(2)]
    reached = {
        corpus: float(np.mean([question.reached() for question in asked])) if asked else 0.0
        for corpus, asked in by_corpus.items()
    }
    about = {"name": "kgp-neo4j learned agent", "encoder": sorted(encoders), "questions": counts}
    about |= {"settings": _PARAMETERS | {"seed": seed}}
    scorer = {"description": about, "features": FEATURES, "first": hops[0], "later": hops[1]}
    report = ScorerReport(counts, left_out, reached)
    with folder.saving():
        (out / "scorer.json").write_text(json.dumps(scorer), encoding="utf-8")
        facts = [
            "Boosted regression trees (LambdaMART) that judge the passages of each hop of a "
            "traversal by signals of the graph; `scorer.json` is text",
            f"Encoder of the passages: {', '.join(sorted(encoders))}",
        ]
        facts += [
            f"Corpus {corpus}, {counts[corpus]} questions of {file}: "
            f"{100 * reached[corpus]:.1f} % of the supporting facts among the first five "
            "passages, of questions that the trees had not seen"
            for corpus, file in files.items()
        ]
        folder.finish(asdict(report), "Scorer of the learned agent", facts)
    return report


def _read(database: Database, corpus: str, file: Path) -> tuple[str, list[_Asked], int]:
    """Return a set's encoder, its questions with their seeds, and how many lack a fact."""
    state = database.read("inspect/corpus", corpus=corpus)
    if not state or not {"entities", "keywords", "similarity"} <= set(state[0]["connected"]):
        hint = f"Run `kgp-neo4j connect --corpus {corpus}` first."
        raise CorpusError(f"the corpus {corpus!r} is not there, or not wholly connected", hint=hint)
    by_text: dict[tuple[str, str], set[str]] = {}
    by_title: dict[str, set[str]] = {}
    for row in database.read("connect/entity_passages", corpus=corpus):
        by_text.setdefault((row["title"], row["text"].strip()), set()).add(row["id"])
        by_title.setdefault(row["title"], set()).add(row["id"])
    whole: list[tuple[str, list[set[str]]]] = []
    questions = read_training_questions([file])
    for question in questions:
        # Each fact's passages: those of its title and text, else those of its title.
        gold = [
            by_text.get((fact.title, fact.passage_text.strip())) or by_title.get(fact.title, set())
            for fact in question.facts
        ]
        if all(gold):
            whole.append((question.question, gold))
    encoder = str(state[0]["encoder"])
    vectors = load_encoder(encoder).encode([text for text, _ in whole])
    asked = []
    with bar(f"search {corpus}", len(whole), "questions") as progress:
        for (text, gold), vector in zip(whole, vectors, strict=True):
            signals = search(database, corpus, text, vector.tolist)
            asked.append(_Asked(corpus, signals, gold, seeds_of(signals, _TRAVERSAL.seeds)))
            progress.update()
    return encoder, asked, len(questions) - len(whole)


def _grown(database: Database, asked: Sequence[_Asked], seed: int) -> list[dict[str, Any]]:
    """Return the trees of a hop, and let each question go on from what trees of others chose."""
    counts = Counter(each.corpus for each in asked)
    groups: list[_Group] = []
    ids: list[list[str]] = []
    with bar("candidates", len(asked), "questions") as progress:
        for each in asked:
            candidates = candidates_of(
                database, each.corpus, each.signals, each.frontier, _TRAVERSAL, each.scores
            )
            gold = set().union(*each.gold)
            right = np.array([passage in gold for passage in candidates.ids], dtype=np.int32)
            # A small set counts for more than its size, so that the trees serve each of them.
            weight = float((max(counts.values()) / counts[each.corpus]) ** 0.5)
            groups.append((candidates.features, right, weight))
            ids.append(candidates.ids)
            progress.update()
    scores, booster = _boost(groups, seed)
    for question, passages, score in zip(asked, ids, scores, strict=True):
        question.scores = dict(zip(passages, score.tolist(), strict=True))
        question.frontier = question.best(_TRAVERSAL.seeds)
    return [_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]


def _boost(groups: Sequence[_Group], seed: int) -> tuple[list[Any], Any]:
    """Return each group's scores by cross-validation, and trees trained on all groups."""
    folds = min(_FOLDS, len(groups))
    scores: list[Any] = [None] * len(groups)
    whole = _grow(groups, seed)
    for fold in range(folds):
        others = [group for at, group in enumerate(groups) if at % folds != fold]
        # There are no others of a single question.
        booster = _grow(others, seed) if others else whole
        for at in range(fold, len(groups), folds):
            scores[at] = booster.predict(groups[at][0], raw_score=True)
    return scores, whole


def _grow(groups: Sequence[_Group], seed: int) -> Any:
    with needs("train", "training a scorer"):
        import lightgbm
    data = lightgbm.Dataset(
        np.concatenate([rows for rows, _, _ in groups]),
        np.concatenate([gold for _, gold, _ in groups]),
        weight=np.concatenate([np.full(len(g), w, np.float32) for _, g, w in groups]),
        group=[len(gold) for _, gold, _ in groups],
    )
    return lightgbm.train(_PARAMETERS | {"seed": seed}, data, num_boost_round=_TREES)


def _tree(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tree of LightGBM in the form that `kgp_neo4j.models.engine.Trees` reads."""
    if "split_feature" not in node:
        return {"leaf": round(node["leaf_value"], 6)}
    # The greatest float32 that is not above: features are compared as float32.
    threshold = np.float32(node["threshold"])
    if float(threshold) > node["threshold"]:
        threshold = np.nextafter(threshold, np.float32(-np.inf))
    split = {"feature": FEATURES[node["split_feature"]], "threshold": float(str(threshold))}
    return split | {"low": _tree(node["left_child"]), "high": _tree(node["right_child"])}
