"""Report an evaluation as Markdown: what was asked, a table of methods, tables of kinds."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median

from kgp_neo4j.evaluate.experiment import Result
from kgp_neo4j.evaluate.graph_experiment import OURS, GraphResult
from kgp_neo4j.evaluate.scores import CUTS, Run, mean, paired_interval

__all__ = ["graph_report", "report"]

#: The method that the others are compared with.
_OURS = "kgp"
#: What a kind of question is reported by, the first that a question has.
_OF_KIND = ("Struct-EM", "F1", "silent", "stated")
#: The measures of a run over a graph, in the order of the table.
_GRAPH_MEASURES = (
    "coverage", "hits@1", "named", "carried", "right", "wrong", "failed", "by evidence",
    "right by evidence",
)  # fmt: skip
#: Those that a run over a graph is compared by, the first that it has.
_COMPARED = ("coverage", "right", "named")

#: A title, a header and rows of cells.
Table = tuple[str, Sequence[str], list[list[str]]]


def report(result: Result) -> str:
    """Return the report of questions over documents; means are in per cent.

    An interval is that of a paired bootstrap, 95 %.
    """
    settings = result.settings
    lines = [
        f"{len(result.questions)} questions of {result.dataset}; corpus: {result.corpus}; budget "
        f"{settings['budget']} passages; answers: {settings['answers']}; {_machine()}.",
        *_traversal(result),
        "EM and F1 are SQuAD's, in per cent; Struct-EM is the share of questions about pages and "
        "tables that got the values asked for and no others; R, P and SF-EM count supporting facts "
        "among the first passages; `silent` is the share of questions without an answer that got "
        "none; `stated`, where the answers are not known, the share that got a sure one.",
        *_missing(result.runs),
    ]
    return _markdown(lines, [_methods(result), _kinds(result)])


def _traversal(result: Result) -> list[str]:
    """Return how the agents of rows kgp-... walked, where there are any."""
    settings = result.settings
    if not any(name.startswith(f"{_OURS}-") for name in result.runs) or "edges" not in settings:
        return []
    algorithm = {"paper": "the paper's Algorithm 1", "beam": "our beam"}[settings["algorithm"]]
    along = ", ".join(settings["edges"]) or "all edges"
    return [
        f"Rows {_OURS}-... walk by {algorithm}, with a branching factor of "
        f"{settings['branching']}, along {along}."
    ]


def _methods(result: Result) -> Table:
    last = CUTS[-1]
    cut = min(int(result.settings["budget"]), last)  # a run has no more than its budget
    titles = {"recall@5": "R@5", f"recall@{last}": f"R@{cut}", f"all@{last}": f"SF-EM@{cut}"}
    order = ("Struct-EM", "Acc", "EM", "F1", *titles, "precision@5", "by model", "carried",
             "silent", "stated")  # fmt: skip
    measured = {name for run in result.runs.values() for name in run.means()}
    names = [name for name in order if name in measured]
    by = _compared_by(result)
    ranks = _ranks({name: run.means().get(by, 0.0) for name, run in result.runs.items()})
    rows = []
    for method, run in result.runs.items():
        means = run.means()
        ours = None if method == _OURS else result.runs.get(_OURS)
        cells = [_percent(means.get(name)) for name in names]
        cells += [_difference(run, ours, by), f"{ranks[method]:g}", _seconds(run)]
        rows.append([method, *cells])
    shown = [titles.get(name, name).replace("precision", "P") for name in names]
    return "Methods", ("method", *shown, f"{by} less that of {_OURS}", "rank", "p50 s"), rows


def _compared_by(result: Result) -> str:
    """Return the measure that methods are compared by: Struct-EM where no answer has an F1."""
    measured = {name for run in result.runs.values() for name in run.means()}
    return "Struct-EM" if "F1" not in measured and "Struct-EM" in measured else "F1"


def _kinds(result: Result) -> Table:
    groups: dict[str, list[str]] = {}
    for question in result.questions:
        if question.kind:
            groups.setdefault(question.kind, []).append(question.id)
    rows = []
    for kind, ids in groups.items():
        cells = []
        for run in result.runs.values():
            values = [
                next(measures[name] for name in _OF_KIND if name in measures)
                for measures in (run.measures[key] for key in ids)
                if any(name in measures for name in _OF_KIND)
            ]
            cells.append(_percent(mean(values)))
        rows.append([kind, str(len(ids)), *cells])
    header = ("kind", "questions", *result.runs)
    return f"{_compared_by(result)} by kind of question", header, rows


# --- Questions over a knowledge graph ---


def graph_report(result: GraphResult) -> str:
    """Return the report of questions over a graph (MindMap, Tables 2 to 6)."""
    settings, data = result.settings, result.dataset
    over = f" over the graph {data.graph}" if data.graph else ""
    lines = [
        f"{len(data.questions)} questions of {data.name}{over}; budget "
        f"{settings['budget']} triples; answers: {settings['answers']}; {_machine()}.",
        "In per cent: `coverage`, of the entities that the data set lists for an answer and the "
        "graph holds, those that the evidence reaches; `hits@1`, first answers that are one of "
        "them; `named`, entities of the reference that the answer names; `carried`, entities of "
        "the answer that the evidence or the question has; of multiple choice `right`, `wrong` "
        "and `failed` (no choice).",
        *_missing(result.runs),
    ]
    measured = {name for run in result.runs.values() for name in run.means()}
    names = [name for name in _GRAPH_MEASURES if name in measured]
    by = next((name for name in _COMPARED if name in measured), "")
    rows = []
    for method, run in result.runs.items():
        ours = None if method == OURS else result.runs.get(OURS)
        cells = [_percent(run.means().get(name)) for name in names]
        rows.append([method, *cells, _difference(run, ours, by), _seconds(run)])
    header = ("method", *names, f"{by} less that of {OURS}", "p50 s")
    tables: list[Table] = [("Methods", header, rows)]
    if result.linking.measures:
        tables += [_linking(result.linking), _groups(result, by)]
    return _markdown(lines, tables)


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
    groups: dict[str, list[str]] = {}
    for question in result.dataset.questions:
        number = int(result.linking.measures[question.id]["linked"])
        several = ("no entity linked", "one entity", "two or more entities")[min(number, 2)]
        types = [f"answer of type {type_}" for type_ in result.types.get(question.id, ())]
        for group in filter(None, (question.kind, several, *types)):
            groups.setdefault(group, []).append(question.id)
    rows = []
    for group, ids in sorted(groups.items()):
        values = [
            [run.measures[key][by] for key in ids if by in run.measures[key]]
            for run in result.runs.values()
        ]
        if any(values):
            cells = [_percent(mean(each)) if each else "" for each in values]
            rows.append([group, str(max(map(len, values))), *cells])
    return f"{by} by question", ("", "questions", *result.runs), rows


# --- Cells and forms ---


def _difference(run: Run, other: Run | None, by: str) -> str:
    interval = paired_interval(run, other, by) if other else None
    if interval is None:
        return ""
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * value for value in interval))


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


def _missing(runs: Mapping[str, Run]) -> list[str]:
    return [
        f"{name}: {len(run.missing)} questions are missing and count as wrong."
        for name, run in runs.items()
        if run.missing
    ]


def _machine() -> str:
    """Return what the seconds depend on: the date, the cores and the processor."""
    today = datetime.now(UTC).date().isoformat()
    return f"{today}, {os.cpu_count()} cores ({platform.machine()}), {platform.system()}"


def _markdown(lines: Sequence[str], tables: Iterable[Table]) -> str:
    parts = ["# Evaluation", *lines]
    for title, header, rows in tables:
        if rows:
            table = [f"| {' | '.join(row)} |" for row in (header, *rows)]
            table.insert(1, "|---" * len(header) + "|")
            parts.append(f"## {title}\n\n" + "\n".join(table))
    return "\n\n".join(parts) + "\n"
