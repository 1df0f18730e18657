"""Report an evaluation as Markdown: what was asked, a table of methods, a table of kinds."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median

from kgp_neo4j.evaluate.scores import Run, mean, paired_interval


@dataclass(frozen=True, slots=True)
class Result:
    """The scored runs by method, and how they are shown.

    `asked` says what was asked, and `measured` what the columns are; `titles` has a title for each
    measure that gets one. The runs are compared with that of `ours` by the first of `compared` that
    they have. `kinds` has the kind of each question by its id, `linking` how many entities each
    question linked and how many rightly.
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
    for method, run in result.runs.items():
        if run.missing:
            parts.append(f"{method}: {len(run.missing)} questions are missing and count as wrong.")
    ours = result.runs.get(result.ours)
    header = ["method", *(result.titles[name] for name in names)]
    rows = [
        [
            method,
            *(_percent(means[method].get(name)) for name in names),
            _difference(run, ours, by) if ours and run is not ours else "",
            _seconds(run),
        ]
        for method, run in result.runs.items()
    ]
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
            cells = [_percent(run.means().get(name)) for run in of_kind]
            if any(counts):
                rows.append([kind, result.titles[name], str(max(counts)), *cells])
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
    interval = paired_interval(run, ours, by)
    form = "{:+.1f} [{:+.1f}, {:+.1f}]"
    return form.format(*(100 * value for value in interval)) if interval else ""


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _seconds(run: Run) -> str:
    taken = [row["seconds"] for row in run.measures.values() if "seconds" in row]
    return f"{median(taken):.3f}" if taken else ""
