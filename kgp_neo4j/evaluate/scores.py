"""Score answers and retrieved passages of questions over documents; paired intervals; the report.

Recall, precision and all@k count distinct passages (KGP's SF-EM is all@k at the context budget);
exact match and F1 are SQuAD's, the best over the true answers. A question without a line is wrong.
"""

import os
import platform
import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Any

import numpy as np

from kgp_neo4j.evaluate.questions import GoldQuestion

#: Numbers of passages at which recall, precision and all@k are taken.
CUTS = (2, 5, 10, 20, 30)
_DRAWS = 1000
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
#: Answers that get no F1 for shared words.
_WHOLE = frozenset(("yes", "no", "noanswer"))
_SIGNS = re.compile(r"[^\W_]+")
#: Words from which on a value is a page's text, and the share of them that must be there.
_TEXT_WORDS, _TEXT_SHARE = 50, 0.95

#: A line of a run: `id`; if known `retrieved`, `answer`, `values`, `found`, `stated`, `seconds`; of
#: a language model's answer also `given` (what `ask` says), `by`, `carried`, `calls`.
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """The measures and answers of questions by their id, and the questions that the run lacks."""

    measures: dict[str, dict[str, float]]
    missing: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)

    def means(self) -> dict[str, float]:
        """Return the mean of each measure over the questions that have it."""
        rows = self.measures.values()
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: mean([row[name] for row in rows if name in row]) for name in names}


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def measure(gold: GoldQuestion, row: Row, budget: int = CUTS[-1]) -> dict[str, float]:
    """Return the measures of one question by `budget` passages, 0 to 1; `seconds` in seconds."""
    found = ((str(p["title"]), str(p.get("text") or "").strip()) for p in row.get("retrieved", ()))
    order = list(dict.fromkeys(found))[:budget]
    measures: dict[str, float] = {}
    for cut in CUTS if gold.facts else ():
        top = order[:cut]
        reached = sum(any(fact.is_in(*passage) for passage in top) for fact in gold.facts)
        right = sum(any(fact.is_in(*passage) for fact in gold.facts) for passage in top)
        measures[f"recall@{cut}"] = reached / len(gold.facts)
        measures[f"all@{cut}"] = float(reached == len(gold.facts))
        measures[f"precision@{cut}"] = right / cut
    answer = str(row.get("answer") or "")
    unsure = row.get("stated") is False
    if gold.values is not None:
        measures["Struct-EM"] = structural_match(gold.values, row)
    if gold.answers is None:
        measures["stated"] = float(bool(answer) and not unsure)
    elif gold.answers:
        equals = _normalised(answer) in map(_normalised, gold.answers)
        measures["EM"], measures["F1"] = float(equals), f1(answer, gold.answers)
        if "given" in row:
            measures["given"] = f1(row["given"] or "", gold.answers)
    else:
        measures["silent"] = float(bool(row) and (not answer or unsure))
    if "given" in row:  # a model was at hand
        measures["by model"] = float(row.get("by") == "model")
    if carried := row.get("carried"):
        measures["carried"] = mean([float(each) for each in carried])
    if isinstance(row.get("seconds"), int | float):
        measures["seconds"] = float(row["seconds"])
    return measures


def f1(answer: str, truths: Iterable[str]) -> float:
    """Return the best F1 of an answer's words with those of a true one, from 0 to 1."""
    return max((_f1(_normalised(answer), _normalised(truth)) for truth in truths), default=0.0)


def _f1(answer: str, truth: str) -> float:
    if answer != truth and {answer, truth} & _WHOLE:
        return 0.0
    given, wanted = answer.split(), truth.split()
    if not given or not wanted:
        return float(given == wanted)
    return 2 * (Counter(given) & Counter(wanted)).total() / (len(given) + len(wanted))


def _normalised(text: str) -> str:
    """Return an answer in the form that SQuAD compares: lower case, no punctuation or articles."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def structural_match(wanted: Sequence[str], row: Row) -> float:
    """Return 1 where a line of a run has the values asked for, in any order, and no others, else 0.

    This is Struct-EM (KGP, Table 1). Letters and digits are compared, without case. The values are
    `values`, else the answer, whole or between commas. With none wanted, what is asked about does
    not exist, and `found` must be false. Of a page, 95 % of the words in letters must be there.
    """
    answer = str(row.get("answer") or "")
    if not wanted:
        return float(bool(answer) and row.get("found") is False)
    words = Counter(filter(str.isalpha, wanted[0].casefold().split()) if len(wanted) == 1 else ())
    if words.total() > _TEXT_WORDS:
        same = words & Counter(answer.casefold().split())
        return float(same.total() >= _TEXT_SHARE * words.total())
    expected = _squeezed(wanted)
    given = row.get("values")
    readings = [list(map(str, given))] if given else [[answer], answer.split(",")]
    # A line of a page may be one value or several.
    whole = len(expected) == 1 and any(_squeezed(["".join(each)]) == expected for each in readings)
    return float(whole or expected in map(_squeezed, readings))


def _squeezed(values: Iterable[str]) -> list[str]:
    """Return the letters and digits of each value, in order of the alphabet."""
    return sorted(filter(None, ("".join(_SIGNS.findall(value.casefold())) for value in values)))


def paired_interval(first: Run, second: Run, name: str) -> tuple[float, float, float] | None:
    """Return a measure's mean difference, 95 % interval by paired bootstrap; None without any."""
    both = [
        row[name] - second.measures[key][name]
        for key, row in first.measures.items()
        if name in row and name in second.measures.get(key, {})
    ]
    if not both:
        return None
    values = np.array(both)
    drawn = np.random.default_rng(0).integers(len(values), size=(_DRAWS, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return float(values.mean()), float(low), float(high)


@dataclass(frozen=True, slots=True)
class Result:
    """The scored runs by method, and how they are shown.

    `asked` says what was asked, and `measured` what the columns are; `titles` has a title for each
    measure that gets one. The runs are compared with that of `ours` by the first of `compared` that
    they have. `kinds` are by the question's id, `linking` counts entities linked and rightly so.
    """

    asked: str
    measured: str
    titles: Mapping[str, str]
    ours: str
    compared: Sequence[str]
    kinds: Mapping[str, str] = field(default_factory=dict)
    linking: Run = field(default_factory=lambda: Run({}))
    runs: dict[str, Run] = field(default_factory=dict)


def report(result: Result) -> str:
    """Return the report; means are in per cent, an interval is that of a paired bootstrap, 95 %."""
    means = {method: run.means() for method, run in result.runs.items()}
    names = [name for name in result.titles if any(name in each for each in means.values())]
    by = next((name for name in result.compared if name in names), "")
    today = datetime.now(UTC).date().isoformat()
    machine = f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}"
    parts = [f"# Evaluation\n\n{result.asked}; {today}, {machine}.", result.measured]
    ours, rows = result.runs.get(result.ours), []
    header = ["method", *(result.titles[name] for name in names)]
    for method, run in result.runs.items():
        if run.missing:
            parts.append(f"{method}: {len(run.missing)} questions are missing and count as wrong.")
        cells = (_percent(means[method].get(name)) for name in names)
        less = _difference(run, ours, by) if ours and run is not ours else ""
        rows.append([method, *cells, less, _seconds(run)])
    parts.append(_table("Methods", [*header, f"{by} less that of {result.ours}", "p50 s"], rows))
    if result.linking.measures:
        parts.append(_linking(result.linking))
    rows = []
    for kind in dict.fromkeys(filter(None, result.kinds.values())):
        ids = [key for key, each in result.kinds.items() if each == kind]
        of_kind = [Run({key: run.measures[key] for key in ids}) for run in result.runs.values()]
        # Not one mean of different measures: those without an answer are counted by themselves.
        for name in (each for each in result.compared if each in names):
            counts = [sum(name in row for row in run.measures.values()) for run in of_kind]
            shares = [_percent(run.means().get(name)) for run in of_kind]
            if any(counts):
                rows.append([kind, result.titles[name], str(max(counts)), *shares])
    if rows:
        header = ["kind", "measure", "questions", *result.runs]
        parts.append(_table("By kind of question", header, rows))
    return "\n\n".join(parts) + "\n"


def _linking(linking: Run) -> str:
    """Return precision and recall over all entities linked and listed together."""
    rows = linking.measures.values()
    listing = [row for row in rows if "listed" in row]
    right, linked, listed = (
        sum(row[name] for row in listing) for name in ("right", "linked", "listed")
    )
    shares = [_percent(right / n) if n else "" for n in (linked, listed)]
    cells = [str(len(rows)), f"{mean([row['linked'] for row in rows]):.2f}", *shares]
    header = ["questions", "entities linked", "precision", "recall", "p50 s"]
    return _table("Linking", header, [[*cells, _seconds(linking)]])


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
    lines.insert(1, "|---" * len(header) + "|")
    return f"## {title}\n\n" + "\n".join(lines)


def _difference(run: Run, ours: Run, by: str) -> str:
    interval = paired_interval(run, ours, by) or ()
    return (
        "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * each for each in interval)) if interval else ""
    )


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _seconds(run: Run) -> str:
    taken = [row["seconds"] for row in run.measures.values() if "seconds" in row]
    return f"{median(taken):.3f}" if taken else ""
