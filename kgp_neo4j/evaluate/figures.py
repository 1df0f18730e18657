"""KGP's Figures 5, 6 and 7: quality and time against density, branching and number of passages.

Figure 5 measures a graph alone: the share of questions whose supporting facts are all among ten
seeds of the full-text search and their neighbours (its SF-EM), and the share of these passages that
are supporting facts (its precision). Figure 6 walks each graph by an agent; Figure 7 varies the
branching factor, and the number of passages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.delete import list_passages
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.evaluate.answers import answer_questions
from kgp_neo4j.evaluate.datasets import Dataset
from kgp_neo4j.evaluate.experiment import METHODS, answering, keep_settings
from kgp_neo4j.evaluate.scores import mean, read_run
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.language import LanguageModel
from kgp_neo4j.types.settings import (
    AgentSettings,
    EntitySettings,
    KeywordSettings,
    MdrSettings,
    SimilaritySettings,
    TraversalSettings,
)

__all__ = ["BRANCHING", "DENSITIES", "FIGURES", "GRAPHS", "Point", "draw_figure", "make_figure"]

#: What each figure shows, and the methods that it is made with.
FIGURES = {
    "5": "quality of each graph against its density",
    "6": "F1, EM and time against the density of each graph",
    "7": "F1 against the branching factor; F1 and time against the number of passages",
}
_METHODS = {"6": ("kgp-knn",), "7": ("bm25", "knn", "kgp-knn", "kgp")}
#: The edges of each graph, by the name that `connect` has for it.
GRAPHS = {
    "tfidf": "SHARES_KEYWORD",
    "entity": "SHARES_ENTITY",
    "knn-st": "SIMILAR_ST",
    "knn-mdr": "SIMILAR_MDR",
}
#: Numbers of neighbours that a passage is joined to.
DENSITIES = (1, 2, 5, 10, 20, 40)
BRANCHING = (1, 2, 3, 5, 10, 20)
_SEEDS = 10


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a figure: its line, its place on the axis named, and what was measured there.

    Measures are from 0 to 1, `seconds` the median of a question, `reached` and `passages` numbers
    of passages.
    """

    line: str
    axis: str
    x: float
    measures: Mapping[str, float]


def make_figure(
    figure: str,
    database: Database,
    grown: Sequence[Dataset],
    out: Path,
    *,
    methods: Sequence[str] = (),
    traversal: TraversalSettings,
    densities: Sequence[int] = DENSITIES,
    model: LanguageModel | None = None,
    agent_models: Mapping[str, AgentSettings] | None = None,
    echo: Callable[[str], object] = lambda _: None,
) -> list[Point]:
    """Measure the points of a figure; those that are in `out` already are kept.

    `grown` is the data set, then the same questions over more and more passages (Figure 7). Figures
    5 and 6 have a corpus of their own, whose graphs are made anew for every density. Raises
    ConfigurationError where each question has a corpus of its own.
    """
    first = grown[0]
    if first.parts:
        raise ConfigurationError(
            "a figure is of one corpus, and here every question has its own",
            hint="Leave --setting question out.",
        )
    weights = dict(agent_models or {})
    chosen = tuple(methods) or _METHODS.get(figure, ())
    settings = {
        "figure": figure,
        "dataset": first.name,
        "questions": [question.id for question in first.questions],
        "methods": list(chosen),
        "densities": list(densities),
        **asdict(traversal),
        "answers": model.name if model else "offline reader",
    }
    keep_settings(out, settings)
    done = _Points(out / "points.jsonl")

    def run(dataset: Dataset, name: str, walk: TraversalSettings, mark: str) -> dict[str, float]:
        echo(f"{name}, {mark}")
        answered = answering(database, dataset, name, walk, model, weights.get(name))
        file = out / f"{name}-{mark}.jsonl"
        answer_questions([q.question for q in dataset.questions], answered, file, resume=True)
        made = read_run(file, dataset.questions)
        names = ("F1", "EM", "recall@5", "all@30")
        seconds = [row["seconds"] for row in made.measures.values()]
        return {n: made.means().get(n, 0.0) for n in names} | {"seconds": median(seconds)}

    if figure == "7":
        for name in chosen:
            walked = METHODS[name].agent not in (None, "learned")
            for factor in BRANCHING if walked else ():
                if done.lacks(name, "branching factor", factor):
                    first.prepare_all(database)
                    walk = replace(traversal, branching=factor)
                    done.keep(
                        name, "branching factor", factor, run(first, name, walk, f"b{factor}")
                    )
        for dataset in grown:
            dataset.prepare_all(database)
            size = database.read("inspect/corpus", corpus=dataset.corpus)[0]["passages"]
            for name in chosen:
                if done.lacks(name, "passages", size):
                    done.keep(name, "passages", size, run(dataset, name, traversal, f"n{size}"))
        return done.points
    own = replace(first, corpus=f"{first.corpus}-density")
    own.prepare_all(database)
    around = _Neighbourhood(database, own)
    for graph, edge in GRAPHS.items():
        mdr = weights["kgp-mdr"].model if "kgp-mdr" in weights else None
        for number in densities:
            if not done.lacks(graph, "neighbours", number):
                continue
            echo(f"{graph}, {number} neighbours a passage")
            _densify(database, own.corpus, graph, number, mdr)
            measures = around.measured(edge)
            for name in chosen:
                walk = replace(traversal, edges=(edge,))
                found = run(own, name, walk, f"{graph}-{number}")
                measures |= {f"{name} {each}": value for each, value in found.items()}
            done.keep(graph, "neighbours", number, measures)
    return done.points


class _Points:
    """The points measured so far, kept in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        self.points = [Point(**point) for point in _whole(lines)]

    def lacks(self, line: str, axis: str, x: float) -> bool:
        return all((p.line, p.axis, p.x) != (line, axis, x) for p in self.points)

    def keep(self, line: str, axis: str, x: float, measures: Mapping[str, float]) -> None:
        self.points.append(Point(line, axis, x, measures))
        rows = (json.dumps(asdict(point)) + "\n" for point in self.points)
        self._file.write_text("".join(rows), encoding="utf-8")


def _whole(lines: Sequence[str]) -> Iterator[Any]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue  # it was cut short


def _densify(database: Database, corpus: str, graph: str, neighbours: int, mdr: str | None) -> None:
    """Make one graph anew with so many neighbours a passage."""
    connect(
        database,
        corpus,
        edges=[graph],
        keywords=KeywordSettings(neighbours=neighbours),
        entities=EntitySettings(neighbours=neighbours),
        similarity=SimilaritySettings(neighbours=neighbours),
        mdr=MdrSettings(mdr, neighbours=neighbours),
    )


class _Neighbourhood:
    """What can be said of a graph without an agent: where the neighbours of seeds lead."""

    def __init__(self, database: Database, dataset: Dataset) -> None:
        self._database = database
        self._corpus = dataset.corpus
        passages = list_passages(database, dataset.corpus, limit=10_000_000)
        by_title: dict[str, list[Any]] = {}
        for passage in passages:
            by_title.setdefault(passage.title, []).append(passage)
        #: For each question, its seeds, and the ids of the passages of each supporting fact.
        self._questions = [
            (
                [
                    row["passage"]["id"]
                    for row in database.read(
                        "procedures/seeds", question=gold.text, corpus=self._corpus, limit=_SEEDS
                    )
                ],
                [
                    {p.id for p in by_title.get(fact.title, ()) if fact.is_in(p.title, p.text)}
                    for fact in gold.facts
                ],
            )
            for gold in dataset.questions
            if gold.facts
        ]

    def measured(self, edge: str) -> dict[str, float]:
        """Return SF-EM, precision, and the number of passages reached, over one type of edge."""
        covered, precision, reached = [], [], []
        for seeds, facts in self._questions:
            rows = self._database.read(
                "traverse/paper_hop",
                corpus=self._corpus,
                frontier=[{"passage": seed} for seed in seeds],
                edge=edge,
                most=10_000_000,
            )
            found = {*seeds, *(row["passage"] for row in rows)}
            covered.append(float(all(found & fact for fact in facts)))
            right = found & set().union(*facts)
            precision.append(len(right) / len(found) if found else 0.0)
            reached.append(float(len(found)))
        return {"SF-EM": mean(covered), "precision": mean(precision), "reached": mean(reached)}


# --- Pictures -------------------------------------------------------------------------------------


def draw_figure(points: Sequence[Point], title: str, file: Path) -> None:
    """Draw the points as SVG, a panel for each axis and measure; needs matplotlib (`plots`)."""
    with needs("plots", "a figure"):
        import matplotlib as mpl
        from matplotlib.figure import Figure
    panels = list(dict.fromkeys((point.axis, name) for point in points for name in point.measures))
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    # The same figures make the same file.
    with mpl.rc_context({"svg.hashsalt": "kgp-neo4j", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(3.4 * columns, 2.4 * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).flat
        for (axis, name), panel in zip(panels, axes, strict=False):
            held = [p for p in points if p.axis == axis and name in p.measures]
            for line in dict.fromkeys(point.line for point in held):
                on_line = sorted((p for p in held if p.line == line), key=lambda p: p.x)
                values = [point.measures[name] for point in on_line]
                panel.plot([p.x for p in on_line], values, "o-", ms=3, lw=1, label=line)
            panel.set(xscale="log", xlabel=axis, title=name)
            panel.legend(fontsize=6)
        for unused in list(figure.axes)[len(panels) :]:
            unused.remove()
        figure.suptitle(title)
        figure.savefig(file, format="svg", metadata={"Date": None})
