"""Answers over a knowledge graph against the paper's baselines on the same graph (MindMap, 4).

Examples:
  python benchmarks/mindmap.py choices ../shared/data/medical/explaincpe/dev.json
      --table ../shared/data/medical/chinese/disease.csv --mapping qa-system-diseases
  python benchmarks/mindmap.py answers ../shared/data/medical/genmedgpt5k_dev.json.gz
      --triples ../shared/data/medical/emckg/train.txt --questions 200
  python benchmarks/mindmap.py answers QUESTIONS.json --triples FILE.tsv --llm NAME --judge NAME

`choices` takes multiple choice questions ({"question", "options", "answer"}) and prints the
accuracy of each method, over all questions and over those that evidence chose for. `answers` takes
questions with a reference ({"input", "output"} or {"question", "answer"}) and prints how much of
each method's answer the evidence carries, how many of the reference's entities it names and, given
the models, BERTScore, pairwise wins of MindMap and mean ranks. Without --llm, answers are composed
from the evidence of each method, and options are scored by it. A graph is loaded as bench-kg-FILE
unless it is there. Writes results/mindmap-COMMAND-FILE.json.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import _common as common

METHODS = (
    "MindMap",
    "without paths",
    "without neighbours",
    "KG retriever",
    "BM25 documents",
    "embedding documents",
)
#: Documents that the document retrievers read; the paper's read the best ones too.
DOCUMENTS = 3


class Methods:
    """The evidence of each method for a question, at the same size in triples."""

    def __init__(self, database: Any, graph: str, size: int, names: Sequence[str]) -> None:
        from kgp_neo4j.evaluate.graph_baselines import Bm25, Embeddings, graph_documents
        from kgp_neo4j.models.encoder import load_encoder

        self.database, self.graph, self.size = database, graph, size
        wanted = {name for name in names if name.endswith("documents")}
        documents = graph_documents(database, graph) if wanted else []
        self.retrievers: dict[str, Any] = {}
        if "BM25 documents" in wanted:
            self.retrievers["BM25 documents"] = Bm25(documents)
        if "embedding documents" in wanted:
            self.retrievers["embedding documents"] = Embeddings(documents, load_encoder())

    def evidence(self, name: str, question: str, linked: Sequence[Any]) -> Any:
        """Return a method's evidence as a reasoning graph."""
        from kgp_neo4j.evaluate.graph_baselines import as_reasoning
        from kgp_neo4j.mindmap.explore.kg_retriever import shortest_paths
        from kgp_neo4j.mindmap.explore.mining import mine_from
        from kgp_neo4j.types.mindmap import ReasoningGraph
        from kgp_neo4j.types.settings import MiningSettings

        if name in self.retrievers:
            found = self.retrievers[name].retrieve(question, DOCUMENTS)
            return as_reasoning([document for document, _ in found], linked, self.size)
        if name == "KG retriever":
            paths = shortest_paths(self.database, self.graph, linked, self.size)
            triples = tuple(dict.fromkeys(t for path in paths for t in path.triples))
            return ReasoningGraph(tuple(linked), tuple(paths), triples)
        settings = MiningSettings(
            size=self.size, paths=name != "without paths", neighbours=name != "without neighbours"
        )
        return mine_from(self.database, self.graph, question, linked, settings)


def opened_graph(database: Any, given: Any) -> str:
    """Load the graph of the benchmark unless it is there; return its name."""
    from kgp_neo4j.mindmap.load.graphs import graphs
    from kgp_neo4j.mindmap.load.load_graph import load_graph

    if given.graph:
        return str(given.graph)
    path = given.triples or given.table
    name = f"bench-kg-{common.safe(path.stem)}"
    if name not in {each.name for each in graphs(database)}:
        common.say(f"loading {name}")
        load_graph(database, [path], name, mapping=given.mapping, keep_going=True)
    return name


def writer(name: str | None) -> Callable[[str], str] | None:
    """Return a language model as a function of a prompt; None for none."""
    if name is None:
        return None
    from kgp_neo4j.environment.configuration import language_settings
    from kgp_neo4j.llm import call as language

    model = language.open_language_model(language_settings(model=name))
    return language.writer(model) if model is not None else None


def read_records(path: Path, number: int | None) -> list[dict[str, Any]]:
    """Return the records of a .json file with one array, or of .jsonl; also .gz."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        text = file.read()
    rows = json.loads(text) if text.lstrip().startswith("[") else None
    if rows is None:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return list(rows[:number])


# --- Multiple choice ------------------------------------------------------------------------------


def choices(given: Any) -> None:
    """Choose an option for each question with each method."""
    from kgp_neo4j.evaluate.mindmap import accuracy
    from kgp_neo4j.graphdb.install import open_database
    from kgp_neo4j.mindmap.answer.ask_graph import answer_from
    from kgp_neo4j.mindmap.answer.options import best_option, score_options
    from kgp_neo4j.mindmap.link.linking import link

    write = writer(given.llm)
    records = read_records(given.file, given.questions)
    with open_database(echo=common.say) as database:
        graph = opened_graph(database, given)
        methods = Methods(database, graph, given.size, given.methods)
        rows: dict[str, list[tuple[str, bool]]] = {name: [] for name in given.methods}
        seconds: dict[str, list[float]] = {name: [] for name in given.methods}
        for record in records:
            question, options = record["question"], labelled(record["options"])
            linked = link(database, graph, question)
            for name in given.methods:
                began = time.perf_counter()
                reasoning = methods.evidence(name, question, linked)
                if name == "MindMap":
                    scores = score_options(database, graph, reasoning, options)
                else:
                    scores = by_evidence(methods, name, question, reasoning, options)
                if write is None:
                    choice, supported, _ = best_option(scores, question)
                else:
                    made = answer_from(question, graph, reasoning, scores, write=write)
                    choice, supported = made.choice, made.supported
                rows[name].append((choice, supported))
                seconds[name].append(time.perf_counter() - began)
    expected = [str(record["answer"]).strip().upper() for record in records]
    table, result = [], {}
    for name in given.methods:
        all_ = accuracy([choice for choice, _ in rows[name]], expected)
        sure = [(c, e) for (c, s), e in zip(rows[name], expected, strict=True) if s]
        of_sure = accuracy([c for c, _ in sure], [e for _, e in sure])
        share = 100 * len(sure) / max(len(records), 1)
        result[name] = {
            "correct": all_.correct,
            "wrong": all_.wrong,
            "failed": all_.failed,
            "by evidence": share,
            "correct of these": of_sure.correct,
            "p50 seconds": common.quantile(seconds[name], 0.5),
        }
        table.append([name, *list(result[name].values())[:-1]])
    print(f"{len(records)} questions, {given.llm or 'no language model'}; {common.described()}\n")
    print(common.markdown(["method", *list(next(iter(result.values())))[:-1]], table))
    save(given, "choices", result)


def labelled(options: Any) -> dict[str, str]:
    """Return options by label: a list gets A, B, C."""
    if isinstance(options, Mapping):
        return {str(label).upper(): str(text) for label, text in options.items()}
    return {chr(ord("A") + at): str(text) for at, text in enumerate(options)}


def by_evidence(
    methods: Methods, name: str, question: str, reasoning: Any, options: Mapping[str, str]
) -> tuple[Any, ...]:
    """Score options by what a baseline retrieves: documents for question and option, or names."""
    from kgp_neo4j.mindmap.answer.same_names import same
    from kgp_neo4j.types.mindmap import OptionScore

    made = []
    names = {same(x) for t in reasoning.triples for x in (t.head, t.tail)}
    for label, text in options.items():
        if name in methods.retrievers:
            found = methods.retrievers[name].retrieve(f"{question} {text}", 1)
            score = found[0][1] if found else 0.0
        else:
            own = same(text)
            score = float(sum(n in own for n in names) if own else 0)
        made.append(OptionScore(label, text, score))
    return tuple(made)


# --- Answers --------------------------------------------------------------------------------------


def answers(given: Any) -> None:
    """Answer each question with each method, and measure the answers."""
    from kgp_neo4j.evaluate.mindmap import (
        bert_score,
        grounding,
        judge_pair,
        judge_ranks,
        mean_ranks,
        tally,
    )
    from kgp_neo4j.graphdb.install import open_database
    from kgp_neo4j.mindmap.answer.ask_graph import answer_from
    from kgp_neo4j.mindmap.link.linking import link

    write, judge = writer(given.llm), writer(given.judge)
    records = [
        (str(r.get("input") or r["question"]), str(r.get("output") or r["answer"]))
        for r in read_records(given.file, given.questions)
    ]
    texts: dict[str, list[str]] = {name: [] for name in given.methods}
    carried: dict[str, list[float]] = {name: [] for name in given.methods}
    named: dict[str, list[float]] = {name: [] for name in given.methods}
    with open_database(echo=common.say) as database:
        graph = opened_graph(database, given)
        methods = Methods(database, graph, given.size, given.methods)
        vocabulary = [row["name"] for row in database.read("explore/all_names", graph=graph)]
        for question, reference in records:
            linked = link(database, graph, question)
            wanted = set(grounding(reference, (), vocabulary).named)
            for name in given.methods:
                reasoning = methods.evidence(name, question, linked)
                made = answer_from(question, graph, reasoning, write=write)
                held = {x for t in reasoning.triples for x in (t.head, t.tail)}
                found = grounding(made.text, held, vocabulary, question)
                texts[name].append(made.text)
                if found.share is not None:
                    carried[name].append(found.share)
                if wanted:
                    named[name].append(len(wanted & set(found.named)) / len(wanted))
    result: dict[str, dict[str, Any]] = {
        name: {
            "carried by evidence": 100 * common.mean(carried[name]),
            "reference's entities named": 100 * common.mean(named[name]),
        }
        for name in given.methods
    }
    references = [reference for _, reference in records]
    if given.bert:
        for name in given.methods:
            scores = bert_score(texts[name], references, given.bert)
            for at, part in enumerate(("precision", "recall", "F1")):
                result[name][f"BERTScore {part}"] = 100 * common.mean(s[at] for s in scores)
    if judge is not None:
        first = given.methods[0]
        for name in given.methods[1:]:
            verdicts = [
                judge_pair(judge, question, reference, texts[first][at], texts[name][at])
                for at, (question, reference) in enumerate(records)
            ]
            result[name] |= {f"{first} {k}": v for k, v in tally(verdicts).items()}
        ranks = [
            judge_ranks(judge, question, reference, {n: texts[n][at] for n in given.methods})
            for at, (question, reference) in enumerate(records)
        ]
        for name, rank in mean_ranks(ranks).items():
            result[name]["mean rank"] = rank
    columns = list(dict.fromkeys(key for row in result.values() for key in row))
    print(f"{len(records)} questions, {given.llm or 'no language model'}; {common.described()}\n")
    table = [[name, *(row.get(c) for c in columns)] for name, row in result.items()]
    print(common.markdown(["method", *columns], table))
    save(given, "answers", result)


def save(given: Any, command: str, result: Mapping[str, Any]) -> None:
    """Write the figures with the settings they were made with."""
    settings = {
        "file": given.file.name,
        "questions": given.questions,
        "size": given.size,
        "llm": given.llm,
    }
    name = f"mindmap-{command}-{common.safe(given.file.name.split('.')[0])}"
    common.say(
        f"written: {common.keep(given.out, name, {'settings': settings, 'methods': result})}"
    )


def main() -> None:
    """Read the command line and run."""
    parser = common.parser(__doc__ or "", None)
    parser.add_argument("command", choices=("choices", "answers"))
    parser.add_argument("file", type=Path, help="the questions: .json or .jsonl, also .gz")
    parser.add_argument("--triples", type=Path, help="a file of triples to load")
    parser.add_argument("--table", type=Path, help="a table to load with --mapping")
    parser.add_argument("--mapping", help="a mapping's name or TOML file")
    parser.add_argument("--graph", help="a graph that is loaded already")
    parser.add_argument("--size", type=common.positive, default=40, help="triples of evidence")
    parser.add_argument("--methods", type=common.words, default=list(METHODS))
    parser.add_argument("--llm", help="the chat server's model that answers (OPENAI_BASE_URL)")
    parser.add_argument("--judge", help="the chat server's model that compares answers")
    parser.add_argument("--bert", help="an encoder for BERTScore: folder or name")
    given = parser.parse_args()
    common.check(METHODS, given.methods, "method")
    if not (given.graph or given.triples or given.table):
        parser.error("give --graph, --triples or --table")
    with common.explained():
        {"choices": choices, "answers": answers}[given.command](given)


if __name__ == "__main__":
    main()
