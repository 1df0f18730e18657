"""Report an evaluation as Markdown and as a page: one table of methods, one of kinds."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any

from kgp_neo4j.evaluate.experiment import Result
from kgp_neo4j.evaluate.figures import Point
from kgp_neo4j.evaluate.graph_experiment import OURS, GraphResult
from kgp_neo4j.evaluate.graph_judge import Pairs
from kgp_neo4j.evaluate.scores import CUTS, Run, mean, paired_interval
from kgp_neo4j.show.html import escaped, html_page
from kgp_neo4j.types.errors import InputError

__all__ = [
    "Table",
    "figure_table",
    "graph_lines",
    "graph_tables",
    "machine_line",
    "markdown_report",
    "page_report",
    "rank_table",
    "settings_lines",
    "tables_of",
]

#: The method that the others are compared with.
_OURS = "kgp"
#: What a kind of question is told by, the first that a question has.
_OF_KIND = ("Struct-EM", "F1", "silent", "stated")

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
        "Struct-EM": "Struct-EM", "Acc": "Acc", "EM": "EM", "F1": "F1", "recall@5": "R@5",
        f"recall@{last}": f"R@{cut}", f"all@{last}": f"SF-EM@{cut}", "precision@5": "P@5",
        "by model": "by model", "carried": "carried", "silent": "silent", "stated": "stated",
    }  # fmt: skip
    known = {name for run in result.runs.values() for name in run.means()}
    names = [name for name in measures if name in known]
    by = _compared(known)
    ranks = _ranks({name: run.means().get(by, 0.0) for name, run in result.runs.items()})
    rows = []
    for method, run in result.runs.items():
        means = run.means()
        cells = [_percent(means.get(name)) for name in names]
        cells += [_difference(result, method, by), f"{ranks[method]:g}", _seconds(run)]
        rows.append([method, *cells])
    shown = [measures[name] for name in names]
    header = ("method", *shown, f"{by} less that of {_OURS}", "rank", "p50 s")
    return "Methods", header, rows


def _compared(known: Container[str]) -> str:
    """Return the measure that methods are compared by: Struct-EM where no answer has an F1."""
    return "Struct-EM" if "F1" not in known and "Struct-EM" in known else "F1"


def _kinds(result: Result) -> Table:
    kinds = list(dict.fromkeys(question.kind for question in result.questions if question.kind))
    rows = []
    for kind in kinds:
        ids = [question.id for question in result.questions if question.kind == kind]
        cells = []
        for run in result.runs.values():
            measures = [run.measures[key] for key in ids]
            values = [
                next(m[name] for name in _OF_KIND if name in m)
                for m in measures
                if any(name in m for name in _OF_KIND)
            ]
            cells.append(_percent(mean(values)))
        rows.append([kind, str(len(ids)), *cells])
    by = _compared({name for run in result.runs.values() for name in run.means()})
    return f"{by} by kind of question", ("kind", "questions", *result.runs), rows


def _changes(result: Result, before: Mapping[str, Run]) -> Table:
    rows = []
    for method, run in result.runs.items():
        if method in before:
            cells = [
                _interval(paired_interval(run, before[method], m))
                for m in ("EM", "F1", "recall@5", "Struct-EM")
            ]
            rows.append([method, *cells])
    header = ("method", "EM", "F1", "R@5", "Struct-EM")
    return "Change since the earlier evaluation", header, rows


def _difference(result: Result, method: str, by: str) -> str:
    if method == _OURS or _OURS not in result.runs:
        return ""
    return _interval(paired_interval(result.runs[method], result.runs[_OURS], by))


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


# --- Questions over a knowledge graph ---

#: The measures of a run in the order of the table; those not in per cent have digits of their own.
_GRAPH_MEASURES = (
    "coverage", "hits@1", "named", "carried", "right", "wrong", "failed", "by evidence",
    "right by evidence", "counted right", "as counted", "BERTScore P", "BERTScore R",
    "BERTScore F1", "mean rank",
)  # fmt: skip
#: Those that a run is compared by, the first that it has.
_COMPARED = ("coverage", "right", "named")


def graph_tables(
    result: GraphResult, before: Mapping[str, Run] | None = None, pairs: Pairs | None = None
) -> list[Table]:
    """Return the tables of a report on questions over a graph (MindMap, Tables 2 to 6)."""
    known = {name for run in result.runs.values() for name in run.means()}
    names = [name for name in _GRAPH_MEASURES if name in known]
    by = next((name for name in _COMPARED if name in known), "")
    ours = result.runs.get(OURS)
    rows = []
    for method, run in result.runs.items():
        means = run.means()
        cells = [
            f"{means[name]:.2f}" if name == "mean rank" and name in means
            else _percent(means.get(name))
            for name in names
        ]  # fmt: skip
        if ours:
            cells.append(_interval(paired_interval(run, ours, by)) if run is not ours else "")
        rows.append([method, *cells, _seconds(run)])
    lead = (f"{by} less that of {OURS}",) if ours else ()
    tables: list[Table] = [("Methods", ("method", *names, *lead, "p50 s"), rows)]
    if pairs:
        header = ("pairs, in per cent", "axis", "win", "tie", "lose")
        judged = [
            [f"{next(iter(result.runs))} against {other}", axis,
             *(f"{shares[name]:.1f}" for name in header[2:])]
            for other, axes in pairs.items()
            for axis, shares in axes.items()
        ]  # fmt: skip
        tables.append(("Judged in pairs", header, judged))
    if result.linking.measures:
        tables += [_linking(result.linking), _groups(result, by)]
    if before:
        changed = [
            [method, _interval(paired_interval(run, before[method], by))]
            for method, run in result.runs.items()
            if method in before
        ]
        tables.append(("Change since the earlier evaluation", ("method", by), changed))
    return [table for table in tables if table[2]]


def _linking(linking: Run) -> Table:
    """Return precision and recall over all entities linked and listed together."""
    rows = linking.measures.values()
    listing = [row for row in rows if "listed" in row]
    right, linked, listed = (
        sum(row[name] for row in listing) for name in ("right", "linked", "listed")
    )
    shares = [_percent(right / n) if n else "" for n in (linked, listed)]
    mean_linked = f"{mean([row['linked'] for row in rows]):.2f}"
    header = ("questions", "entities linked", "precision", "recall", "p50 s")
    return "Linking", header, [[str(len(rows)), mean_linked, *shares, _seconds(linking)]]


def _groups(result: GraphResult, by: str) -> Table:
    """Return a measure by the data set's kinds, by how many entities a question links (a path can
    only be where two are), and by the types of its answer.
    """
    linked = result.linking.measures
    groups: dict[str, list[str]] = {}
    for asked in result.questions:
        number = int(linked[asked.id]["linked"])
        several = ("no entity linked", "one entity", "two or more entities")[min(number, 2)]
        types = [f"answer of type {type_}" for type_ in result.types.get(asked.id, ())]
        for group in filter(None, (asked.kind, several, *types)):
            groups.setdefault(group, []).append(asked.id)
    rows = []
    for group in sorted(groups):
        measured = [
            [run.measures[key][by] for key in groups[group] if by in run.measures[key]]
            for run in result.runs.values()
        ]
        if any(measured):
            cells = [_percent(mean(values)) if values else "" for values in measured]
            rows.append([group, str(max(map(len, measured))), *cells])
    return f"{by} by question", ("", "questions", *result.runs), rows


def graph_lines(result: GraphResult, machine: str) -> list[str]:
    """Return what a report on questions over a graph says first."""
    settings = result.settings
    over = f" over the graph {settings['graph']}" if settings.get("graph") else ""
    lines = [
        f"{len(result.questions)} questions of {result.dataset}{over}; budget "
        f"{settings['budget']} triples; answers: {settings['answers']}; {machine}.",
        "In per cent: `coverage`, of the entities that the data set lists for an answer and the "
        "graph holds, those that the evidence reaches; `hits@1`, first answers that are one of "
        "them; `named`, entities of the reference that the answer names; `carried`, entities of "
        "the answer that the evidence or the question has; of multiple choice `right`, `wrong` "
        "and `failed` (no choice).",
    ]
    return lines + _missing(result.runs)


def _missing(runs: Mapping[str, Run]) -> list[str]:
    return [
        f"{name}: {len(run.missing)} questions are missing and count as wrong."
        for name, run in runs.items()
        if run.missing
    ]


# --- Forms ---


def machine_line() -> str:
    """Return what the seconds depend on: the date, the cores and the processor."""
    today = datetime.now(UTC).date().isoformat()
    return f"{today}, {os.cpu_count()} cores ({platform.machine()}), {platform.system()}"


def settings_lines(result: Result, machine: str) -> list[str]:
    """Return what a report says first: what was asked, over what, and who answered."""
    lines = [
        f"{len(result.questions)} questions of {result.dataset}; corpus: {result.setting}; budget "
        f"{result.settings['budget']} passages; answers: {result.settings['answers']}; {machine}.",
        *_traversal(result),
        "EM and F1 are SQuAD's, in per cent; Struct-EM is the share of questions about pages and "
        "tables that got the values asked for and no others; R, P and SF-EM count supporting facts "
        "among the first passages; `silent` is the share of questions without an answer that got "
        "none; `stated`, where the answers are not known, the share that got a sure one.",
    ]
    return lines + _missing(result.runs)


def _traversal(result: Result) -> list[str]:
    """Return how the agents walked, where there are any; ours has settings of its own."""
    if "algorithm" not in result.settings:  # other systems' runs alone
        return []
    if result.runs and not any(name.startswith(f"{_OURS}-") for name in result.runs):
        return []
    how = {"paper": "the paper's Algorithm 1", "beam": "our beam"}[result.settings["algorithm"]]
    along = ", ".join(result.settings["edges"]) or "all edges"
    factor = result.settings["branching"]
    return [f"Rows {_OURS}-... walk by {how}, with a branching factor of {factor}, along {along}."]


def markdown_report(about: Sequence[str], tables: Iterable[Table]) -> str:
    """Return the report as Markdown: the lines that it begins with, then the tables."""
    parts = ["# Evaluation", *about]
    for title, header, rows in tables:
        lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
        parts.append(f"## {title}")
        parts.append("\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]]))
    return "\n\n".join(parts) + "\n"


#: Names of measures in a line of Markdown, and what they are on a page.
_NAMES, _CODE = re.compile(r"`([^`]+)`"), r"<code>\1</code>"


def page_report(about: Sequence[str], tables: Iterable[Table], picture: str = "") -> str:
    """Return the report as a page that needs no network; `picture` is SVG."""
    parts = [
        "<h1>Evaluation</h1>",
        *(f"<p>{_NAMES.sub(_CODE, escaped(line))}</p>" for line in about),
    ]
    parts.append(picture[picture.find("<svg") :] if picture else "")
    for title, header, rows in tables:
        head = "".join(f"<th>{escaped(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        parts.append(f"<h2>{escaped(title)}</h2><div class='map'><table><thead><tr>{head}</tr>")
        parts.append(f"</thead><tbody>{body}</tbody></table></div>")
    return html_page("Evaluation", "".join(parts))


# --- Figures, and several data sets ---------------------------------------------------------------


def figure_table(points: Sequence[Point], title: str) -> list[Table]:
    """Return the points of a figure as tables, one for each axis; shares are in per cent."""
    tables: list[Table] = []
    for axis in dict.fromkeys(point.axis for point in points):
        held = [point for point in points if point.axis == axis]
        names = list(dict.fromkeys(name for point in held for name in point.measures))
        rows = [
            [p.line, f"{p.x:,}", *(_measure(name, p.measures.get(name)) for name in names)]
            for p in held
        ]
        tables.append((f"{title}, by {axis}", ("line", axis, *names), rows))
    return tables


def _measure(name: str, value: float | None) -> str:
    if value is None or not name.endswith(("seconds", "reached")):
        return _percent(value)
    return f"{value:.3f}" if name.endswith("seconds") else f"{value:.1f}"


def rank_table(evaluations: Sequence[Mapping[str, Any]]) -> Table:
    """Return F1 by data set, and the mean rank of each method that all of them have (KGP, Table 1).

    An evaluation is what `scores.json` of its folder holds. Raises InputError where their settings
    differ, so that one table never has figures of two settings.
    """
    for name in ("setting", "budget", "answers", "algorithm"):
        kinds = {str(each["settings"].get(name, "")) for each in evaluations}
        if len(kinds) > 1:
            raise InputError(
                f"the evaluations differ in {name}: {', '.join(sorted(kinds))}",
                hint="Only evaluations with the same settings can stand in one table.",
            )
    tables = [
        {name: means.get("F1", 0.0) for name, means in each["methods"].items()}
        for each in evaluations
    ]
    shared = [name for name in tables[0] if all(name in table for table in tables)]
    ranks = [_ranks({name: table[name] for name in shared}) for table in tables]
    rows = [
        [
            name,
            *(_percent(table[name]) for table in tables),
            f"{mean([each[name] for each in ranks]):.2f}",
        ]
        for name in shared
    ]
    return "F1 and mean rank", ("method", *(e["dataset"] for e in evaluations), "rank"), rows
