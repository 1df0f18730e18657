"""Score runs of multi-document questions: retrieval, answers, and paired intervals.

Recall, precision and all@k count distinct passages (KGP's SF-EM is all@k at the context budget);
exact match and F1 are those of SQuAD, the best over the true answers. A question that a run lacks
counts as wrong.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgp_neo4j.evaluate.answers import exact_match, f1, structural_match
from kgp_neo4j.evaluate.questions import GoldQuestion, read_values
from kgp_neo4j.types.errors import InputError

__all__ = [
    "CUTS",
    "Run",
    "mean",
    "measure",
    "paired_interval",
    "read_rows",
    "read_run",
]

#: Numbers of passages at which recall, precision and all@k are taken.
CUTS = (2, 5, 10, 20, 30)
_DRAWS = 1000

#: A line of a run: `id`, and where known `retrieved`, `answer`, `values`, `found`, `stated` and
#: `seconds`.
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """The measures of each question by its id, and the questions that the run lacks."""

    measures: dict[str, dict[str, float]]
    missing: tuple[str, ...]

    def means(self) -> dict[str, float]:
        """Return the mean of each measure over the questions that have it."""
        names = dict.fromkeys(name for row in self.measures.values() for name in row)
        return {
            name: mean([row[name] for row in self.measures.values() if name in row])
            for name in names
        }


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


# --- Runs ---


def read_run(path: Path, questions: Sequence[GoldQuestion]) -> Run:
    """Score a run, of this or of another system.

    A line is {"id", "retrieved": [{"title", "text"}, ...], "answer", "seconds"}. Raises InputError
    for broken lines, ids that stand twice, and ids of no question here.
    """
    rows = read_rows(path, {question.id for question in questions})
    return Run(
        {q.id: measure(q, rows.get(q.id, {})) for q in questions},
        tuple(q.id for q in questions if q.id not in rows),
    )


def read_rows(path: Path, known: Container[str] | None = None) -> dict[str, Row]:
    """Return the lines of a run by their id; with `known`, other ids are refused."""
    rows: dict[str, Row] = {}
    for row, where in read_values(path, "run"):
        if not isinstance(row, dict) or "id" not in row:
            raise InputError("not a line of a run", where=where, hint='It needs an "id".')
        key = str(row["id"])
        if key in rows:
            raise InputError(f"the id {key!r} stands twice", where=where)
        if known is not None and key not in known:
            raise InputError(
                f"the id {key!r} is of no question here",
                where=where,
                hint="Score the run against the questions that it was made from.",
            )
        if not _is_list_of_passages(row.get("retrieved", [])):
            raise InputError(
                '"retrieved" is no list of passages',
                where=where,
                hint='Give [{"title": ..., "text": ...}, ...], best first.',
            )
        rows[key] = row
    return rows


def _is_list_of_passages(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(p, dict) and "title" in p for p in value)


def measure(gold: GoldQuestion, row: Row) -> dict[str, float]:
    """Return the measures of one question, each from 0 to 1, `seconds` in seconds."""
    order = list(
        dict.fromkeys(
            (str(p["title"]), str(p.get("text") or "").strip()) for p in row.get("retrieved", ())
        )
    )
    made: dict[str, float] = {}
    for cut in CUTS if gold.facts else ():
        top = order[:cut]
        found = sum(any(fact.is_in(*passage) for passage in top) for fact in gold.facts)
        right = sum(any(fact.is_in(*passage) for fact in gold.facts) for passage in top)
        made[f"recall@{cut}"] = found / len(gold.facts)
        made[f"all@{cut}"] = float(found == len(gold.facts))
        made[f"precision@{cut}"] = right / cut
    said = str(row.get("answer") or "")
    if gold.values is not None:
        made["Struct-EM"] = structural_match(gold.values, row)
    if gold.answers is None:
        made["stated"] = float(bool(said) and row.get("stated") is not False)
    elif gold.answers:
        made["EM"] = exact_match(said, gold.answers)
        made["F1"] = f1(said, gold.answers)
    else:
        made["silent"] = float(not said or row.get("stated") is False) if row else 0.0
    if row.get("calls") and "by" in row:
        made["by model"] = float(row["by"] == "model")
    if carried := row.get("carried"):
        made["carried"] = mean([float(each) for each in carried])
    if isinstance(row.get("seconds"), int | float):
        made["seconds"] = float(row["seconds"])
    return made


def paired_interval(
    first: Run, second: Run, name: str, seed: int = 0
) -> tuple[float, float, float] | None:
    """Return the mean difference of a measure between two runs, and its 95 % interval.

    By a paired bootstrap over the questions that have the measure; None where none has.
    """
    both = [
        row[name] - second.measures[key][name]
        for key, row in first.measures.items()
        if name in row and name in second.measures.get(key, {})
    ]
    if not both:
        return None
    values = np.array(both)
    drawn = np.random.default_rng(seed).integers(len(values), size=(_DRAWS, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return float(values.mean()), float(low), float(high)
