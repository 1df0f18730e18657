"""Compare traversal agents on one graph, with the same seeds and budget (KGP, Table 2).

Examples:
  python benchmarks/agents.py ../shared/data/musique
  python benchmarks/agents.py ../shared/data/hotpotqa --questions 100 --agents random,tfidf,knn
  python benchmarks/agents.py ../shared/data/2wiki --mdr-model models/mdr --t5-model models/t5
  python benchmarks/agents.py ../shared/data/musique --edges SHARES_ENTITY,SIMILAR_ST

The corpus bench-FOLDER is loaded and connected unless it is there. All agents start from the same
seeds: full text, vector and titles that the question names, fused; `learned` takes its own from the
same search. The paper compares answers; here the passages are compared: all@30 is its SF-EM.

Prints two Markdown tables: how well each agent retrieves, and by which edge it came to the gold
passages among its 30: the last step of the path, `seed` where search alone found it. A pair of
passages may be joined by edges of several types, of which a path names the one that says most; in
brackets stands how many each type joins. Writes results/agents-FOLDER.json, plots/agents-FOLDER.svg
and the runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import _common as common

from kgp_neo4j.corpus.traverse.agents.search import TfidfAgent
from kgp_neo4j.types.corpus import NextEvidence
from kgp_neo4j.types.errors import ConfigurationError, ModelError
from kgp_neo4j.types.settings import EDGES

AGENTS = ("random", "tfidf", "knn", "mdr", "t5", "learned")
SHOWN = ("recall@5", "all@5", "all@10", "all@30", "precision@5")
GRAPHS = ("tfidf", "entity", "knn-st")


class SameSeeds(TfidfAgent):
    """The agent tfidf, but with the seeds of the others, which search by vector too."""

    def __init__(self, searcher: Any) -> None:
        self._searcher = searcher

    def begin(self, question: str) -> NextEvidence:
        """Return the question with its vector."""
        return self._searcher.begin(question)


def prepare(database: Any, corpus: str, given: Any) -> None:
    """Load and connect the corpus, as far as it is not."""
    from kgp_neo4j.corpus.connect.graphs import connect
    from kgp_neo4j.corpus.load.loading import load
    from kgp_neo4j.types.settings import MdrSettings, SimilaritySettings

    there = common.graphs_of(database, corpus)
    if there is None:
        common.say(f"loading {corpus}")
        load(database, [given.folder / "corpus.jsonl.gz"], corpus)
    wanted = [*given.graphs, *(["knn-mdr"] if "mdr" in given.agents else [])]
    missing = [graph for graph in wanted if graph not in (there or ())]
    if missing:
        common.say(f"connecting {corpus}: {', '.join(missing)}")
        similarity = SimilaritySettings(encoder=given.encoder)
        mdr = MdrSettings(str(given.mdr_model) if given.mdr_model else None)
        connect(database, corpus, edges=missing, similarity=similarity, mdr=mdr)


def retriever_of(database: Any, corpus: str, name: str, given: Any) -> Any:
    """Return a retriever with an agent, or a sentence that says why it is left out."""
    from kgp_neo4j.corpus.retrieve import PassageRetriever
    from kgp_neo4j.corpus.traverse.agents.search import KnnAgent
    from kgp_neo4j.models.encoder import load_encoder
    from kgp_neo4j.types.settings import AgentSettings, TraversalSettings

    models = {"mdr": given.mdr_model, "t5": given.t5_model, "learned": given.learned_model}
    model = models.get(name)
    there = common.graphs_of(database, corpus) or set()
    if name == "t5" and model is None:
        return "needs --t5-model FOLDER, as `kgp-neo4j train t5` makes it"
    if name in ("knn", "learned") and "knn-st" not in there:
        return "needs a corpus with embeddings (--graphs knn-st)"
    agent: Any = name
    if name == "tfidf" and "knn-st" in there:
        encoder = database.read("inspect/corpus", corpus=corpus)[0]["encoder"]
        agent = SameSeeds(KnnAgent(load_encoder(encoder)))
    try:
        made = PassageRetriever(
            database,
            corpus,
            agent=agent,
            settings=TraversalSettings(budget=common.BUDGET, edges=tuple(given.edges)),
            agent_settings=AgentSettings(model=str(model) if model else None, seed=given.seed),
        )
        made.open()
    except (ConfigurationError, ModelError) as error:
        return str(error)
    return made


def reached(
    database: Any, records: Sequence[common.Record], rows: Sequence[common.Record]
) -> dict[str, dict[str, float]]:
    """Return how the gold passages retrieved were reached, in per cent of them.

    `last` is the edge that the agent's path names as its last step. A pair of passages may be
    joined by edges of several types; `possible` is the share that each type joins.
    """
    last: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for record, row in zip(records, rows, strict=True):
        gold = common.gold_of(record)
        for passage in row["retrieved"]:
            if common.is_gold(gold, passage["title"], passage["text"]):
                last[passage["edge"]] += 1
                if passage["from"]:
                    pairs[passage["from"], passage["id"]] += 1
    possible: Counter[str] = Counter({"seed": last["seed"]} if last["seed"] else {})
    given = [list(pair) for pair in pairs]
    for edge in EDGES:
        for found in database.read("traverse/path_edges", pairs=given, edges=[edge]):
            if found["edge"] == edge:
                possible[edge] += pairs[found["source"], found["target"]]
    counted = {"last": last, "possible": possible}
    return {
        name: {edge: 100 * count / last.total() for edge, count in counts.most_common()}
        for name, counts in counted.items()
    }


def draw(results: dict[str, Any], title: str) -> Any:
    """Return the figure: how many questions have all gold passages, and how these were reached."""
    plt = common.pyplot()
    names = list(results)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    kinds = ("all@5", "all@10", "all@30")
    for place, kind in enumerate(kinds):
        xs = [x + 0.27 * (place - 1) for x in range(len(names))]
        bars = left.bar(xs, [results[name][kind] for name in names], 0.25, label=kind)
        left.bar_label(bars, fmt="%.0f", fontsize=6, padding=1)
    left.set(title="Every gold passage retrieved", ylabel="questions (%)", ylim=(0, 112))
    left.set_xticks(range(len(names)), names)
    left.legend(ncols=3, loc="upper left", fontsize=7)
    bottom = [0.0] * len(names)
    for edge in edges_of(results):
        share = [results[name]["edges"]["last"].get(edge, 0.0) for name in names]
        right.bar(names, share, 0.6, bottom=bottom, label=edge)
        bottom = [a + b for a, b in zip(bottom, share, strict=True)]
    right.set(title="Last step to the gold passages", ylabel="gold passages retrieved (%)")
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=7)
    figure.suptitle(title, fontsize=10)
    return figure


def edges_of(results: dict[str, Any]) -> list[str]:
    """Return the edges that led to a gold passage, `seed` first, in a fixed order."""
    known = ("seed", *EDGES, "MENTIONS")
    return [
        edge
        for edge in known
        if any(edge in shares for r in results.values() for shares in r["edges"].values())
    ]


def main() -> None:
    """Retrieve with every agent and print the tables."""
    parser = common.parser(__doc__, None)
    common.add_data(parser)
    parser.add_argument(
        "--agents", type=common.words, default=list(AGENTS), help=f"of {','.join(AGENTS)}"
    )
    parser.add_argument(
        "--graphs",
        type=common.words,
        default=list(GRAPHS),
        help=f"what is connected where it is not yet, of {','.join(GRAPHS)} (default: all)",
    )
    parser.add_argument(
        "--edges",
        type=common.words,
        default=[],
        help=f"edge types to go along, of {','.join(EDGES)} (default: all)",
    )
    parser.add_argument("--mdr-model", type=Path, metavar="DIR", help="of the agent mdr")
    parser.add_argument("--t5-model", type=Path, metavar="DIR", help="of the agent t5")
    parser.add_argument(
        "--learned-model", type=Path, metavar="DIR", help="of the agent learned (default: shipped)"
    )
    given = parser.parse_args()
    common.check(AGENTS, given.agents, "agent")
    common.check(GRAPHS, given.graphs, "graph")
    common.check(EDGES, given.edges, "edge type")
    common.pyplot()
    score = common.scorer(given.score).score
    with common.explained():
        compare(given, score)


def compare(given: Any, score: Any) -> None:
    """Do what `main` was asked to."""
    from kgp_neo4j.graphdb.open import open_database

    corpus = f"bench-{given.folder.name}"
    name = common.safe("-".join(["agents", given.folder.name, *given.edges]))
    records = common.questions_of(
        given.folder / f"{given.split}.jsonl.gz", given.questions, given.seed
    )
    runs = given.out / "runs"
    gold = common.write_lines(runs / f"{name}-{len(records)}-{given.seed}-gold.jsonl", records)
    results: dict[str, Any] = {}
    notes: dict[str, str] = {}
    with open_database(echo=common.say) as database:
        prepare(database, corpus, given)
        for agent in given.agents:
            retriever = retriever_of(database, corpus, agent, given)
            if isinstance(retriever, str):
                notes[agent] = retriever
                continue
            common.say(f"{agent}: {len(records)} questions")
            out = runs / f"{name}-{len(records)}-{given.seed}-{agent}.jsonl"
            rows = common.run(retriever, records, out, resume=given.resume)
            results[agent] = {
                **common.means(score(gold, str(out))[0], SHOWN),
                "p50_seconds": common.quantile((row["seconds"] for row in rows), 0.5),
                "edges": reached(database, records, rows),
            }
        graphs = sorted(common.graphs_of(database, corpus) or ())
    title = f"{given.folder.name} {given.split}, {len(records)} questions"
    along = f", along {', '.join(given.edges)}" if given.edges else ""
    print(f"\n{title}{along}; graphs {', '.join(graphs)}; {common.described()}\n")
    shown = ["R@5", *(column for column in SHOWN[1:])]
    rows = [[a, *(r[c] for c in SHOWN), f"{r['p50_seconds']:.3f}"] for a, r in results.items()]
    print(common.markdown(["agent", *shown, "p50 s"], rows))
    edges = edges_of(results)
    print("\nGold passages retrieved, by the last step (%; in brackets: what it could be):\n")
    rows = []
    for agent, made in results.items():
        shares, possible = made["edges"]["last"], made["edges"]["possible"]
        rows.append(
            [agent, *(f"{shares.get(e, 0.0):.1f} ({possible.get(e, 0.0):.1f})" for e in edges)]
        )
    print(common.markdown(["agent", *edges], rows))
    for agent, note in notes.items():
        print(f"\n{agent} is left out: {note}")
    settings = {
        "corpus": corpus,
        "split": given.split,
        "questions": len(records),
        "seed": given.seed,
        "budget": common.BUDGET,
        "graphs": graphs,
        "edges": given.edges,
    }
    result = {"settings": settings, "agents": results, "left_out": notes}
    print(f"\n{common.keep(given.out, name, result)}")
    if results:
        print(common.picture(given.out, name, draw(results, f"{title}{along}")))


if __name__ == "__main__":
    main()
