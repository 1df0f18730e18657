"""`train scorer`: the learned agent's trees, from questions with known supporting facts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.traverse.agents.learned import candidates_of, search, seeds_of
from kgp_neo4j.corpus.traverse.signals import FEATURES, QuestionSignals
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.train.boosting import BoostingSettings, boost, trees_of
from kgp_neo4j.train.examples import TrainingQuestion, read_training_questions
from kgp_neo4j.train.folder import Folder
from kgp_neo4j.types.errors import ConfigurationError, CorpusError
from kgp_neo4j.types.settings import TraversalSettings

__all__ = ["ScorerReport", "TrainingSet", "card", "scorer_json", "train_scorer"]


def card(description: Mapping[str, Any], reached: Mapping[str, float]) -> str:
    """Return the card in Markdown: description, training data, and results."""
    rows = "\n".join(
        f"| {corpus} | {said['file']} | {said['questions']} | {100 * reached[corpus]:.1f} |"
        for corpus, said in description["questions"].items()
    )
    settings = ", ".join(f"{name} {value}" for name, value in description["settings"].items())
    return f"""# Scorer of the learned agent

Boosted regression trees (LambdaMART) that judge the passages of each hop of a traversal by signals
of the graph. `scorer.json` is text: one tree a line, each split with its feature and threshold.

- Encoder of the passages: {", ".join(description["encoder"])}
- Settings: {settings}

| corpus | questions from | questions | R@5 in cross-validation |
|---|---|---|---|
{rows}

R@5 is the share of supporting facts among the first five passages, of questions that the trees had
not seen. Made by `kgp-neo4j train scorer`. The licence of the training data governs what may be
done with the trees beyond it.
"""


# --- Training ---


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
    """A question with its signals, its gold passages, and the passages that a hop found for it."""

    corpus: str
    signals: QuestionSignals
    gold: list[set[str]]
    weight: float
    frontier: list[str]
    before: dict[str, float] | None = None
    ids: list[str] | None = None
    rows: NDArray[np.float32] | None = None

    def labels(self) -> NDArray[np.int32]:
        every = set().union(*self.gold)
        return np.array([p in every for p in self.ids or ()], dtype=np.int32)


def train_scorer(
    database: Database,
    sets: Sequence[TrainingSet],
    out: Path,
    *,
    settings: BoostingSettings | None = None,
    overwrite: bool = False,
) -> ScorerReport:
    """Train the trees of both hops and write them to `out`; return what they reach.

    The first hop's trees learn from the seeds and their neighbours. Those of the later hops learn
    from the choices of trees that had not seen the question (five folds), so that they see the
    first hop's real errors. A question whose supporting facts are not all in the corpus is left
    out. Raises CorpusError where a corpus is not connected.
    """
    settings = settings or BoostingSettings()
    kept = asdict(settings) | {"sets": {s.corpus: str(s.questions.name) for s in sets}}
    folder = Folder(out, kept, overwrite=overwrite)
    traversal = TraversalSettings()
    asked: list[_Asked] = []
    counts: dict[str, int] = {}
    left_out: dict[str, int] = {}
    for each in sets:
        found, missing = _asked(database, each, traversal)
        asked += found
        counts[each.corpus], left_out[each.corpus] = len(found), missing
    if not asked:
        raise ConfigurationError(
            "no question has its supporting facts in the corpus",
            hint="Give the questions that belong to the corpus: --set CORPUS=FILE.",
        )
    most = max(counts.values())
    for question in asked:
        # A small set counts for more than its size, so that the trees serve each of them.
        question.weight = float((most / counts[question.corpus]) ** 0.5)
    made = []
    for hop in range(2):
        _gather(database, asked, traversal, hop)
        groups = [(q.rows, q.labels(), q.weight) for q in asked if q.rows is not None]
        scores, booster = boost(groups, settings)
        made.append(trees_of(booster, FEATURES))
        for question, score in zip(asked, scores, strict=True):
            before = dict(zip(question.ids or (), score.tolist(), strict=True))
            question.before = before
            question.frontier = sorted(before, key=lambda p: (-before[p], p))[: traversal.seeds]
    reached = {each.corpus: _reached(asked, each.corpus) for each in sets}
    description = {
        "name": "kgp-neo4j learned agent",
        "encoder": sorted({_encoder_name(database, each.corpus) for each in sets}),
        "questions": {
            each.corpus: {"file": each.questions.name, "questions": counts[each.corpus]}
            for each in sets
        },
        "settings": asdict(settings),
    }
    scorer = {
        "description": description,
        "features": FEATURES,
        "first": made[0],
        "later": made[1],
    }
    # One tree a line, so that it is readable and so are its diffs.
    (out / "scorer.json").write_text(scorer_json(scorer), encoding="utf-8")
    report = ScorerReport(counts, left_out, reached)
    folder.finish(asdict(report), card(description, reached))
    return report


def scorer_json(scorer: Mapping[str, Any]) -> str:
    """Return the text of `scorer.json`: one tree a line."""
    parts = []
    for key, value in scorer.items():
        if key in ("first", "later"):
            lines = ",\n  ".join(json.dumps(tree, separators=(",", ":")) for tree in value)
            parts.append(f'"{key}": [\n  {lines}\n ]')
        else:
            parts.append(f'"{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _encoder_name(database: Database, corpus: str) -> str:
    return str(database.read("inspect/corpus", corpus=corpus)[0]["encoder"])


def _asked(
    database: Database, each: TrainingSet, settings: TraversalSettings
) -> tuple[list[_Asked], int]:
    """Return a set's questions with their seeds, and the number that lack a supporting fact."""
    found = database.read("inspect/corpus", corpus=each.corpus)
    if not found or not {"entities", "keywords", "similarity"} <= set(found[0]["connected"]):
        raise CorpusError(
            f"the corpus {each.corpus!r} is not there, or not wholly connected",
            hint=f"Run `kgp-neo4j connect --corpus {each.corpus}` first.",
        )
    encoder: Encoder = load_encoder(found[0]["encoder"])
    by_text: dict[tuple[str, str], set[str]] = {}
    by_title: dict[str, set[str]] = {}
    for row in database.read("connect/entity_passages", corpus=each.corpus):
        by_text.setdefault((row["title"], row["text"].strip()), set()).add(row["id"])
        by_title.setdefault(row["title"], set()).add(row["id"])
    questions = read_training_questions([each.questions])
    golds = [_gold(question, by_text, by_title) for question in questions]
    kept = [(q, gold) for q, gold in zip(questions, golds, strict=True) if all(gold)]
    vectors = encoder.encode([q.question for q, _ in kept])
    made = []
    with bar(f"search {each.corpus}", len(kept), "questions") as progress:
        for (question, gold), vector in zip(kept, vectors, strict=True):
            signals = search(database, each.corpus, question.question, vector.tolist)
            made.append(_Asked(each.corpus, signals, gold, 1.0, seeds_of(signals, settings.seeds)))
            progress.update()
    return made, len(questions) - len(kept)


def _gold(
    question: TrainingQuestion,
    by_text: Mapping[tuple[str, str], set[str]],
    by_title: Mapping[str, set[str]],
) -> list[set[str]]:
    """Return for each supporting fact its passages: by title and text, or by title."""
    return [
        by_text.get((fact.title, fact.passage_text.strip())) or by_title.get(fact.title, set())
        for fact in question.facts
    ]


def _gather(
    database: Database, asked: Sequence[_Asked], settings: TraversalSettings, hop: int
) -> None:
    with bar(f"hop {hop + 1}", len(asked), "questions") as progress:
        for q in asked:
            found = candidates_of(
                database, q.corpus, q.signals, q.frontier, settings, q.before if hop else None
            )
            q.ids, q.rows = found.ids, found.features
            progress.update()


def _reached(asked: Sequence[_Asked], corpus: str, first: int = 5) -> float:
    shares = []
    for question in asked:
        if question.corpus == corpus and question.before is not None:
            scores = question.before
            top = set(sorted(scores, key=lambda p: (-scores[p], p))[:first])
            shares.append(sum(bool(gold & top) for gold in question.gold) / len(question.gold))
    return sum(shares) / len(shares)
