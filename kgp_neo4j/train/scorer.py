"""`train scorer`: the learned agent's trees, from questions with known supporting facts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgp_neo4j.corpus.traverse.agents.learned import candidates_of, search, seeds_of
from kgp_neo4j.corpus.traverse.signals import FEATURES, QuestionSignals
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.train.boosting import PARAMETERS, Group, boost, trees_of
from kgp_neo4j.train.examples import read_training_questions
from kgp_neo4j.train.folder import Folder
from kgp_neo4j.types.errors import ConfigurationError, CorpusError
from kgp_neo4j.types.settings import TraversalSettings

__all__ = ["ScorerReport", "TrainingSet", "scorer_json", "train_scorer"]

#: R@5 is reported: a reader gets five passages.
_FIRST = 5


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """A connected corpus, and the file of questions whose supporting facts are in it."""

    corpus: str
    questions: Path


@dataclass(frozen=True, slots=True)
class ScorerReport:
    """The data and the results of a training.

    `reached` is the share of supporting facts among the first five passages, of questions that the
    trees had not seen (cross-validation), by corpus.
    """

    questions: Mapping[str, int]
    left_out: Mapping[str, int]
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
    sets: Sequence[TrainingSet],
    out: Path,
    *,
    seed: int = 0,
    overwrite: bool = False,
) -> ScorerReport:
    """Train the trees of both hops and write them to `out`; return what they reach.

    The first hop's trees learn from the seeds and their neighbours. Those of the later hops learn
    from the choices of trees that had not seen the question (five folds), so that they see the
    first hop's real errors. A question whose supporting facts are not all in the corpus is left
    out. Raises CorpusError where a corpus is not connected.
    """
    files = {each.corpus: each.questions.name for each in sets}
    folder = Folder(out, {"seed": seed, "sets": files}, overwrite=overwrite)
    traversal = TraversalSettings()
    encoders: set[str] = set()
    by_corpus: dict[str, list[_Asked]] = {}
    left_out: dict[str, int] = {}
    for each in sets:
        encoder, asked, missing = _read(database, each, traversal)
        encoders.add(encoder)
        by_corpus[each.corpus], left_out[each.corpus] = asked, missing
    counts = {corpus: len(asked) for corpus, asked in by_corpus.items()}
    every = [question for asked in by_corpus.values() for question in asked]
    if not every:
        raise ConfigurationError(
            "no question has its supporting facts in the corpus",
            hint="Give the questions that belong to the corpus: --set CORPUS=FILE.",
        )
    hops = [_grown(database, every, counts, seed, traversal) for _ in range(2)]
    reached = {
        corpus: float(np.mean([question.reached() for question in asked])) if asked else 0.0
        for corpus, asked in by_corpus.items()
    }
    description = {
        "name": "kgp-neo4j learned agent",
        "encoder": sorted(encoders),
        "questions": {
            corpus: {"file": files[corpus], "questions": counts[corpus]} for corpus in files
        },
        "settings": PARAMETERS | {"seed": seed},
    }
    scorer = {"description": description, "features": FEATURES, "first": hops[0], "later": hops[1]}
    report = ScorerReport(counts, left_out, reached)
    with folder.saving():
        (out / "scorer.json").write_text(scorer_json(scorer), encoding="utf-8")
        _finish(folder, report, files, sorted(encoders))
    return report


def _finish(
    folder: Folder, report: ScorerReport, files: Mapping[str, str], encoders: Sequence[str]
) -> None:
    """Write the card of a trained scorer."""
    facts = [f"Encoder of the passages: {', '.join(encoders)}"]
    facts += [
        f"Corpus {corpus}, {report.questions[corpus]} questions of {file}: "
        f"{100 * report.reached[corpus]:.1f} % of the supporting facts among the first five "
        "passages, of questions that the trees had not seen"
        for corpus, file in files.items()
    ]
    folder.finish(
        asdict(report),
        "Scorer of the learned agent",
        "Boosted regression trees (LambdaMART) that judge the passages of each hop of a traversal "
        "by signals\nof the graph. `scorer.json` is text: one tree a line, each split with its "
        "feature and threshold.",
        facts,
    )


def scorer_json(scorer: Mapping[str, Any]) -> str:
    """Return the text of `scorer.json`: one tree a line, so that it and its diffs are readable."""
    parts = []
    for key, value in scorer.items():
        if key in ("first", "later"):
            lines = ",\n  ".join(json.dumps(tree, separators=(",", ":")) for tree in value)
            parts.append(f'"{key}": [\n  {lines}\n ]')
        else:
            parts.append(f'"{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _read(
    database: Database, each: TrainingSet, settings: TraversalSettings
) -> tuple[str, list[_Asked], int]:
    """Return a set's encoder, its questions with their seeds, and how many lack a fact."""
    state = database.read("inspect/corpus", corpus=each.corpus)
    if not state or not {"entities", "keywords", "similarity"} <= set(state[0]["connected"]):
        raise CorpusError(
            f"the corpus {each.corpus!r} is not there, or not wholly connected",
            hint=f"Run `kgp-neo4j connect --corpus {each.corpus}` first.",
        )
    by_text: dict[tuple[str, str], set[str]] = {}
    by_title: dict[str, set[str]] = {}
    for row in database.read("connect/entity_passages", corpus=each.corpus):
        by_text.setdefault((row["title"], row["text"].strip()), set()).add(row["id"])
        by_title.setdefault(row["title"], set()).add(row["id"])
    whole: list[tuple[str, list[set[str]]]] = []
    questions = read_training_questions([each.questions])
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
    with bar(f"search {each.corpus}", len(whole), "questions") as progress:
        for (text, gold), vector in zip(whole, vectors, strict=True):
            signals = search(database, each.corpus, text, vector.tolist)
            asked.append(_Asked(each.corpus, signals, gold, seeds_of(signals, settings.seeds)))
            progress.update()
    return encoder, asked, len(questions) - len(whole)


def _grown(
    database: Database,
    asked: Sequence[_Asked],
    counts: Mapping[str, int],
    seed: int,
    traversal: TraversalSettings,
) -> list[dict[str, Any]]:
    """Return the trees of a hop, and let each question go on from what trees of others chose."""
    groups: list[Group] = []
    ids: list[list[str]] = []
    with bar("candidates", len(asked), "questions") as progress:
        for question in asked:
            candidates = candidates_of(
                database,
                question.corpus,
                question.signals,
                question.frontier,
                traversal,
                question.scores,
            )
            gold = set().union(*question.gold)
            right = np.array([passage in gold for passage in candidates.ids], dtype=np.int32)
            # A small set counts for more than its size, so that the trees serve each of them.
            weight = float((max(counts.values()) / counts[question.corpus]) ** 0.5)
            groups.append((candidates.features, right, weight))
            ids.append(candidates.ids)
            progress.update()
    scores, booster = boost(groups, seed)
    for question, passages, score in zip(asked, ids, scores, strict=True):
        question.scores = dict(zip(passages, score.tolist(), strict=True))
        question.frontier = question.best(traversal.seeds)
    return trees_of(booster, FEATURES)
