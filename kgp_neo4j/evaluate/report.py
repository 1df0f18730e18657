"""Report an evaluation as Markdown and as a page: one table of methods, one of kinds."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median

from kgp_neo4j.evaluate.experiment import Result
from kgp_neo4j.evaluate.scores import CUTS, Run, mean, paired_interval
from kgp_neo4j.show.html import escaped, html_page

__all__ = ["machine_line", "markdown_report", "page_report", "tables_of"]

#: The method that the others are compared with.
_OURS = "kgp"

Table = tuple[str, Sequence[str], list[list[str]]]


def tables_of(result: Result, before: Mapping[str, Run] | None = None) -> list[Table]:
    """Return the tables of a report, each as title, header and rows.

    Means are in per cent; an interval is that of a paired bootstrap, 95 %. `before` are the runs of
    an earlier evaluation, which each method is compared with.
    """
    tables = [_methods(result), _kinds(result)]
    if before:
        tables.append(_changes(result, before))
    return [table for table in tables if table[2]]


def _methods(result: Result) -> Table:
    last = CUTS[-1]
    cut = min(int(result.settings["budget"]), last)  # a run has no more than its budget
    measures = {
        "EM": "EM", "F1": "F1", "recall@5": "R@5", f"recall@{last}": f"R@{cut}",
        f"all@{last}": f"SF-EM@{cut}", "precision@5": "P@5", "silent": "silent", "stated": "stated",
    }  # fmt: skip
    known = {name for run in result.runs.values() for name in run.means()}
    names = [name for name in measures if name in known]
    ranks = _ranks({name: run.means().get("F1", 0.0) for name, run in result.runs.items()})
    rows = []
    for method, run in result.runs.items():
        means = run.means()
        cells = [_percent(means.get(name)) for name in names]
        cells += [_difference(result, method), f"{ranks[method]:g}", _seconds(run)]
        rows.append([method, *cells])
    shown = [measures[name] for name in names]
    header = ("method", *shown, f"F1 less that of {_OURS}", "rank", "p50 s")
    return "Methods", header, rows


def _kinds(result: Result) -> Table:
    kinds = list(dict.fromkeys(question.kind for question in result.questions if question.kind))
    rows = []
    for kind in kinds:
        ids = [question.id for question in result.questions if question.kind == kind]
        cells = []
        for run in result.runs.values():
            measures = [run.measures[key] for key in ids]
            values = [m.get("F1", m.get("silent", m.get("stated"))) for m in measures]
            cells.append(_percent(mean([v for v in values if v is not None])))
        rows.append([kind, str(len(ids)), *cells])
    return "F1 by kind of question", ("kind", "questions", *result.runs), rows


def _changes(result: Result, before: Mapping[str, Run]) -> Table:
    rows = []
    for method, run in result.runs.items():
        if method in before:
            cells = [
                _interval(paired_interval(run, before[method], m)) for m in ("EM", "F1", "recall@5")
            ]
            rows.append([method, *cells])
    return "Change since the earlier evaluation", ("method", "EM", "F1", "R@5"), rows


def _difference(result: Result, method: str) -> str:
    if method == _OURS or _OURS not in result.runs:
        return ""
    return _interval(paired_interval(result.runs[method], result.runs[_OURS], "F1"))


def _interval(found: tuple[float, float, float] | None) -> str:
    if found is None:
        return ""
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * value for value in found))


def _ranks(values: Mapping[str, float]) -> dict[str, float]:
    """Return the rank of each value, the highest first; equal ones share the mean of theirs."""
    ordered = sorted(values.values(), reverse=True)
    return {
        name: ordered.index(value) + (ordered.count(value) + 1) / 2
        for name, value in values.items()
    }


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _seconds(run: Run) -> str:
    taken = [row["seconds"] for row in run.measures.values() if "seconds" in row]
    return f"{median(taken):.3f}" if taken else ""


# --- Forms ---


def machine_line() -> str:
    """Return what the seconds depend on: the date, the cores and the processor."""
    today = datetime.now(UTC).date().isoformat()
    return f"{today}, {os.cpu_count()} cores ({platform.machine()}), {platform.system()}"


def _about(result: Result, machine: str) -> list[str]:
    lines = [
        f"{len(result.questions)} questions of {result.dataset}; corpus: {result.setting}; budget "
        f"{result.settings['budget']} passages; answers: {result.settings['answers']}; {machine}.",
        *_traversal(result),
        "EM and F1 are SQuAD's, in per cent; R, P and SF-EM count supporting facts among the first "
        "passages; `silent` is the share of questions without an answer that got none; `stated`, "
        "where the answers are not known, the share that got a sure one.",
    ]
    for name, run in result.runs.items():
        if run.missing:
            lines.append(f"{name}: {len(run.missing)} questions are missing and count as wrong.")
    return lines


def _traversal(result: Result) -> list[str]:
    """Return how the agents walked, where there are any; ours has settings of its own."""
    if not any(name.startswith(f"{_OURS}-") for name in result.runs):
        return []
    how = {"paper": "the paper's Algorithm 1", "beam": "our beam"}[result.settings["algorithm"]]
    along = ", ".join(result.settings["edges"]) or "all edges"
    factor = result.settings["branching"]
    return [f"Rows {_OURS}-... walk by {how}, with a branching factor of {factor}, along {along}."]


def markdown_report(result: Result, tables: Iterable[Table], machine: str) -> str:
    """Return the report as Markdown."""
    parts = ["# Evaluation", *_about(result, machine)]
    for title, header, rows in tables:
        lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
        parts.append(f"## {title}")
        parts.append("\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]]))
    return "\n\n".join(parts) + "\n"


def page_report(result: Result, tables: Iterable[Table], machine: str) -> str:
    """Return the report as a page that needs no network."""
    parts = [
        "<h1>Evaluation</h1>",
        *(f"<p>{escaped(line)}</p>" for line in _about(result, machine)),
    ]
    for title, header, rows in tables:
        head = "".join(f"<th>{escaped(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        parts.append(f"<h2>{escaped(title)}</h2><div class='map'><table><thead><tr>{head}</tr>")
        parts.append(f"</thead><tbody>{body}</tbody></table></div>")
    return html_page(f"Evaluation of {result.dataset}", "".join(parts))
