"""Measure each graph alone at growing density: coverage against precision (KGP, Figure 5).

Examples:
  python benchmarks/density.py ../shared/data/hotpotqa
  python benchmarks/density.py ../shared/data/musique --questions 50 --passages 1000
  python benchmarks/density.py ../shared/data/2wiki --neighbours 1,10,100 --graphs entity
  python benchmarks/density.py ../shared/data/2wiki --resume

A corpus bench-density-FOLDER is drawn: every gold passage of the questions drawn, and others up to
--passages. For each graph (tfidf, entity, knn-st) and each number of neighbours that `connect`
joins a passage to, that graph alone is made anew, and only its edges are walked. Passages are
embedded once.

  joined      of the gold passages, the share that an edge joins to another one of their question
  covered     questions whose gold passages are all among the ten best by full text and their
              neighbours, however many these are: the SF-EM of Figure 5
  precision   of these passages, the share that is gold: the precision of Figure 5
  reached     how many these are, on average
  all@30      questions whose gold passages are all among the 30 that an agent retrieves
  precision@30

A passage is joined to its N best neighbours and walked from in both directions; edges that name a
title (tfidf, entity) are always there, so these graphs do not begin from nothing. Writes
results/density-FOLDER.json, plots/density-FOLDER.svg and the runs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import _common as common

#: Each graph's edges.
GRAPHS = {"tfidf": "SHARES_KEYWORD", "entity": "SHARES_ENTITY", "knn-st": "SIMILAR_ST"}
#: What an agent needs, whichever graph it walks.
NEEDS = {"knn": "knn-st", "tfidf": "tfidf"}
COLUMNS = ("joined", "covered", "precision", "reached", "all@30", "precision@30")
SEEDS = 10


def drawn(folder: Path, records: Sequence[common.Record], passages: int, seed: int) -> list[Any]:
    """Return the records of all gold passages and of others drawn, in the corpus's order."""
    rows = common.read_lines(folder / "corpus.jsonl.gz")
    wanted: dict[str, common.Gold] = {}
    for record in records:
        for title, text in common.gold_of(record):
            wanted.setdefault(title, []).append((title, text))
    gold = [
        i
        for i, row in enumerate(rows)
        if common.is_gold(wanted.get(row["title"], []), row["title"], row["text"])
    ]
    others = sorted(set(range(len(rows))) - set(gold))
    random.Random(seed).shuffle(others)
    return [rows[i] for i in sorted(gold + others[: max(passages - len(gold), 0)])]


def prepare(database: Any, corpus: str, rows: Sequence[Any], given: Any) -> None:
    """Load the corpus unless it holds these very passages, and make what the agent needs."""
    from kgp_neo4j.corpus.connect.graphs import connect
    from kgp_neo4j.corpus.load.delete import delete_corpus
    from kgp_neo4j.corpus.load.loading import load
    from kgp_neo4j.types.settings import SimilaritySettings

    file = given.out / "runs" / f"{common.safe(corpus)}.jsonl"
    before = common.read_lines(file) if file.is_file() else None
    there = common.graphs_of(database, corpus)
    passages = database.read("inspect/corpus", corpus=corpus) if there is not None else []
    if before != rows or not passages or passages[0]["passages"] != len(rows):
        if there is not None:
            delete_corpus(database, corpus)
        common.say(f"loading {corpus}: {len(rows)} passages")
        load(database, [common.write_lines(file, rows)], corpus)
        there = set()
    if NEEDS[given.agent] not in (there or ()):
        common.say("connecting what the agent needs")
        similarity = SimilaritySettings(encoder=given.encoder)
        connect(database, corpus, edges=[NEEDS[given.agent]], similarity=similarity)


def densify(database: Any, corpus: str, graph: str, neighbours: int) -> None:
    """Make one graph anew with so many neighbours a passage."""
    from kgp_neo4j.corpus.connect.graphs import connect
    from kgp_neo4j.types.settings import EntitySettings, KeywordSettings, SimilaritySettings

    connect(
        database,
        corpus,
        edges=[graph],
        keywords=KeywordSettings(neighbours=neighbours),
        entities=EntitySettings(neighbours=neighbours),
        similarity=SimilaritySettings(neighbours=neighbours),
    )


class Neighbourhood:
    """What can be said of a graph without an agent: the edges of gold passages and of seeds."""

    def __init__(self, database: Any, corpus: str, records: Sequence[common.Record]) -> None:
        self._database = database
        self._corpus = corpus
        by_title: dict[str, list[Any]] = {}
        for row in database.read("connect/entity_passages", corpus=corpus):
            by_title.setdefault(row["title"], []).append(row)
        #: For each question, the ids of each gold passage (several where a title stands twice).
        self._gold = [
            [
                {r["id"] for r in by_title.get(title, []) if text in (None, r["text"].strip())}
                for title, text in common.gold_of(record)
            ]
            for record in records
        ]
        self._seeds = [
            [
                row["passage"]["id"]
                for row in database.read(
                    "procedures/seeds", question=record["question"], corpus=corpus, limit=SEEDS
                )
            ]
            for record in records
        ]

    def measured(self, edge: str) -> dict[str, float]:
        """Return joined, covered and precision in per cent, and reached in passages."""
        joined, covered, precision, reached = [], [], [], []
        for gold, seeds in zip(self._gold, self._seeds, strict=True):
            ids = set().union(*gold)
            found = {*seeds, *self._neighbours(seeds, edge)}
            covered.append(float(all(found & one for one in gold)))
            precision.append(sum(bool(found & one) for one in gold) / len(found) if found else 0.0)
            reached.append(float(len(found)))
            pairs = self._pairs(sorted(ids), edge)
            joined += [float(bool(one & pairs)) for one in gold]
        return {
            "joined": 100 * common.mean(joined),
            "covered": 100 * common.mean(covered),
            "precision": 100 * common.mean(precision),
            "reached": common.mean(reached),
        }

    def _neighbours(self, passages: Sequence[str], edge: str) -> list[str]:
        """Return all neighbours of some passages over one type of edge, in one call."""
        rows = self._database.read(
            "traverse/next_evidence",
            corpus=self._corpus,
            frontier=[{"passage": passage, "match": 0.0} for passage in passages],
            edges=[edge],
            branching=1_000_000,
        )
        return [row["passage"] for row in rows]

    def _pairs(self, passages: Sequence[str], edge: str) -> set[str]:
        """Return those of some passages that an edge joins with another one of them."""
        pairs = [[a, b] for a in passages for b in passages if a < b]
        rows = self._database.read("traverse/path_edges", pairs=pairs, edges=[edge])
        return {row[end] for row in rows if row["edge"] == edge for end in ("source", "target")}


def draw(rows: Sequence[dict[str, Any]], title: str) -> Any:
    """Return the figure: coverage above, precision below; neighbourhood, agent, joined gold."""
    plt = common.pyplot()
    figure, axes = plt.subplots(2, 3, figsize=(10, 5), layout="constrained")
    panels = (
        (axes[0, 0], "reached", "covered", "Gold among seeds and neighbours", "questions (%)"),
        (axes[1, 0], "reached", "precision", "Precision of seeds and neighbours", "gold (%)"),
        (axes[0, 1], "neighbours", "all@30", "Gold among 30 retrieved", "questions (%)"),
        (axes[1, 1], "neighbours", "precision@30", "Precision of 30 retrieved", "gold (%)"),
        (axes[0, 2], "neighbours", "joined", "Gold passages joined by an edge", "passages (%)"),
        (axes[1, 2], "neighbours", "reached", "Seeds and their neighbours", "passages"),
    )
    xs = {"reached": "passages reached from ten seeds", "neighbours": "neighbours a passage"}
    for axis, x, y, name, unit in panels:
        for graph in dict.fromkeys(row["graph"] for row in rows):
            line = [row for row in rows if row["graph"] == graph]
            axis.plot([r[x] for r in line], [r[y] for r in line], "o-", ms=3, lw=1, label=graph)
        axis.set_xscale("log")
        top = 1.08 * max(row[y] for row in rows)
        axis.set(xlabel=xs[x], ylabel=unit, ylim=(0, 105 if unit == "questions (%)" else top))
        axis.set_title(name, fontsize=9)
        shown = (10, 30, 100, 300, 1000) if x == "reached" else {row[x] for row in rows}
        low, high = min(r[x] for r in rows), max(r[x] for r in rows)
        ticks = sorted(v for v in shown if low <= v <= high)
        axis.set_xticks(ticks, [f"{v:,}" for v in ticks])
        axis.minorticks_off()
    axes[0, 0].legend(fontsize=7)
    figure.suptitle(title, fontsize=10)
    return figure


def main() -> None:
    """Measure every graph at every density and print the table."""
    parser = common.parser(__doc__, 150)
    common.add_data(parser)
    parser.add_argument(
        "--neighbours",
        type=common.numbers,
        default=[1, 2, 5, 10, 20, 40],
        help="how many a passage is joined to (default: 1,2,5,10,20,40)",
    )
    parser.add_argument(
        "--graphs", type=common.words, default=list(GRAPHS), help=f"of {','.join(GRAPHS)}"
    )
    parser.add_argument(
        "--passages",
        type=common.positive,
        default=3000,
        metavar="N",
        help="size of the corpus drawn (default: 3000)",
    )
    parser.add_argument(
        "--agent",
        choices=sorted(NEEDS),
        default="knn",
        help="who retrieves the 30 (default: knn; tfidf embeds nothing unless knn-st is measured)",
    )
    given = parser.parse_args()
    common.check(list(GRAPHS), given.graphs, "graph")
    common.pyplot()
    score = common.scorer(given.score).score
    with common.explained():
        measure(given, score)


def measure(given: Any, score: Any) -> None:
    """Do what `main` was asked to."""
    from kgp_neo4j.corpus.retrieve import PassageRetriever
    from kgp_neo4j.graphdb.install import open_database
    from kgp_neo4j.types.settings import TraversalSettings

    corpus = f"bench-density-{given.folder.name}"
    name = common.safe(f"density-{given.folder.name}")
    records = common.questions_of(
        given.folder / f"{given.split}.jsonl.gz", given.questions, given.seed
    )
    passages = drawn(given.folder, records, given.passages, given.seed)
    settings = {
        "corpus": corpus,
        "split": given.split,
        "questions": len(records),
        "passages": len(passages),
        "seed": given.seed,
        "agent": given.agent,
        "encoder": given.encoder,
        "budget": common.BUDGET,
    }
    before = common.kept(given.out, name, settings).get("rows", []) if given.resume else []
    known = {(row["graph"], row["neighbours"]): row for row in before}
    gold = common.write_lines(given.out / "runs" / f"{name}-gold.jsonl", records)
    result: dict[str, Any] = {"settings": settings, "rows": []}
    with open_database(echo=common.say) as database:
        prepare(database, corpus, passages, given)
        around = Neighbourhood(database, corpus, records)
        for graph in given.graphs:
            for neighbours in given.neighbours:
                row = known.get((graph, neighbours))
                if row is None:
                    common.say(f"{graph}, {neighbours} neighbours")
                    densify(database, corpus, graph, neighbours)
                    retriever = PassageRetriever(
                        database,
                        corpus,
                        agent=given.agent,
                        settings=TraversalSettings(budget=common.BUDGET, edges=(GRAPHS[graph],)),
                    )
                    out = given.out / "runs" / f"{name}-{graph}-{neighbours}.jsonl"
                    common.run(retriever, records, out, resume=False)
                    row = {
                        "graph": graph,
                        "neighbours": neighbours,
                        **around.measured(GRAPHS[graph]),
                        **common.means(score(gold, str(out))[0], ("all@30", "precision@30")),
                    }
                result["rows"].append(row)
                common.keep(given.out, name, result)
    title = (
        f"{given.folder.name} {given.split}, {len(records)} questions, "
        f"{len(passages):,} passages, agent {given.agent}"
    )
    print(f"\n{title}; {common.described()}\n")
    cells = [[r["graph"], r["neighbours"], *(r[c] for c in COLUMNS)] for r in result["rows"]]
    print(common.markdown(["graph", "neighbours", *COLUMNS], cells))
    print(f"\n{common.keep(given.out, name, result)}")
    print(common.picture(given.out, name, draw(result["rows"], title)))


if __name__ == "__main__":
    main()
