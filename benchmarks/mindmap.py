"""Answers over a knowledge graph against the paper's baselines on the same graph (MindMap, 4).

Examples:
  python benchmarks/mindmap.py choices ../shared/data/medical/explaincpe/dev.json
      --table ../shared/data/medical/chinese/disease.csv --mapping qa-system-diseases
  python benchmarks/mindmap.py answers ../shared/data/medical/genmedgpt5k_dev.json.gz
      --triples ../shared/data/medical/emckg/train.txt --questions 200
  python benchmarks/mindmap.py answers QUESTIONS.json --triples FILE.tsv --llm NAME --judge NAME
  python benchmarks/mindmap.py published ../shared/data/medical/explaincpe/reported_outputs.csv

`choices` takes multiple choice questions (ExplainCPE) and prints the accuracy of each method, over
all questions and over those that evidence chose for. `answers` takes questions or dialogues with a
reference (GenMedGPT-5k, CMCQA) and prints how much of each method's answer the evidence carries and
how many of the reference's entities it names. Both score the texts (of `choices` the explanations)
with --bert by BERTScore and with --judge by pairwise wins of MindMap and mean ranks.

Without --llm, answers are composed from the evidence of each method, and options are scored by it.
With it the model finds the entities, MindMap's answers go through its own prompt and check, and
each baseline has a plain prompt and its reply counts as it stands; "model alone" has no evidence,
and "plain prompt" has MindMap's without its prompt. --aggregate and --relevance let the model do
these steps of MindMap too. A graph is loaded as bench-kg-FILE unless it is there.

`published` scores a table of published outputs again (Table 6): the choice that each reply makes,
and how often that is what its authors counted. Writes results/mindmap-COMMAND-FILE.json.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import _common as common
import regex

if TYPE_CHECKING:
    from kgp_neo4j.evaluate.graph_questions import GraphQuestion

METHODS = (
    "MindMap",
    "without paths",
    "without neighbours",
    "KG retriever",
    "BM25 documents",
    "embedding documents",
)
#: Further methods with a language model.
WITH_MODEL = ("plain prompt", "model alone")
#: Methods whose evidence MindMap mines, and those that answer by its prompt and check.
_MINED = ("MindMap", "without paths", "without neighbours", "plain prompt")
_OWN_PROMPT = _MINED[:3]
#: Documents that the document retrievers read; the paper's read the best ones too.
DOCUMENTS = 3


class Methods:
    """Evidence and answers of each method, the evidence at the same size in triples."""

    def __init__(self, database: Any, graph: str, given: Any) -> None:
        from kgp_neo4j.evaluate.graph_baselines import Bm25, Embeddings, graph_documents
        from kgp_neo4j.mindmap.link.linking import graph_and_encoder
        from kgp_neo4j.models.encoder import load_encoder

        self.database, self.graph, self.given = database, graph, given
        self.write = writer(given.llm)
        wanted = {name for name in given.methods if name.endswith("documents")}
        documents = graph_documents(database, graph) if wanted else []
        self.retrievers: dict[str, Any] = {}
        if "BM25 documents" in wanted:
            self.retrievers["BM25 documents"] = Bm25(documents)
        if "embedding documents" in wanted:
            encoder = graph_and_encoder(database, graph).encoder or load_encoder()
            self.retrievers["embedding documents"] = Embeddings(documents, encoder)

    def linked(self, question: str) -> list[Any]:
        """Return the entities that all methods have of a question, by the model where one is."""
        from kgp_neo4j.mindmap.link.linking import link

        return link(self.database, self.graph, question, None, self.write)

    def evidence(self, name: str, question: str, linked: Sequence[Any]) -> Any:
        """Return a method's evidence as a reasoning graph."""
        from kgp_neo4j.evaluate.graph_baselines import as_reasoning
        from kgp_neo4j.mindmap.answer.describe import describe
        from kgp_neo4j.mindmap.explore.kg_retriever import shortest_paths
        from kgp_neo4j.mindmap.explore.mining import mine_from
        from kgp_neo4j.types.mindmap import ReasoningGraph
        from kgp_neo4j.types.settings import MiningSettings

        size = self.given.size
        if name in self.retrievers:
            found = self.retrievers[name].retrieve(question, DOCUMENTS)
            return as_reasoning([document for document, _ in found], linked, size)
        if name not in _MINED:
            alone = name == "model alone"
            paths = [] if alone else shortest_paths(self.database, self.graph, linked, size)
            triples = tuple(dict.fromkeys(t for path in paths for t in path.triples))
            return ReasoningGraph(tuple(linked), tuple(paths), triples)
        settings = MiningSettings(
            size=size,
            paths=name != "without paths",
            neighbours=name != "without neighbours",
            relevance=self.given.relevance,
        )
        made = mine_from(self.database, self.graph, question, linked, settings, write=self.write)
        if self.write is not None and self.given.aggregate == "llm":
            made = describe(made, question, self.write)
        return made

    def answer(self, name: str, record: GraphQuestion, reasoning: Any, scores: Any = ()) -> Any:
        """Return a method's text, its choice, and whether evidence supports the choice."""
        from kgp_neo4j.evaluate.graph_baselines import baseline_prompt
        from kgp_neo4j.mindmap.answer.ask_graph import answer_from
        from kgp_neo4j.mindmap.answer.map_prompt import evidence_lines
        from kgp_neo4j.mindmap.answer.options import read_choice

        if self.write is None or name in _OWN_PROMPT:
            made = answer_from(record.question, self.graph, reasoning, scores, write=self.write)
            return made.text, made.choice, made.supported
        lines = evidence_lines(reasoning)
        if name in self.retrievers:
            lines = [document.text for document, _ in self.retrievers[name].retrieve(
                record.question, DOCUMENTS)]  # fmt: skip
        text = self.write(baseline_prompt(record.question, lines, record.options))
        return text, read_choice(text, record.options), False


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


# --- Multiple choice ------------------------------------------------------------------------------


def choices(given: Any) -> None:
    """Choose an option for each question with each method."""
    from kgp_neo4j.evaluate.graph_questions import read_graph_questions
    from kgp_neo4j.evaluate.mindmap import accuracy
    from kgp_neo4j.graphdb.install import open_database
    from kgp_neo4j.mindmap.answer.options import score_options

    records = read_graph_questions(given.file, given.questions)
    rows: dict[str, list[tuple[str, bool]]] = {name: [] for name in given.methods}
    texts: dict[str, list[str]] = {name: [] for name in given.methods}
    seconds: dict[str, list[float]] = {name: [] for name in given.methods}
    with open_database(echo=common.say) as database:
        graph = opened_graph(database, given)
        methods = Methods(database, graph, given)
        for record in records:
            linked = methods.linked(record.question)
            for name in given.methods:
                began = time.perf_counter()
                reasoning = methods.evidence(name, record.question, linked)
                if name in _OWN_PROMPT[:1]:
                    scores = score_options(
                        database, graph, reasoning, record.options, record.question
                    )
                else:
                    scores = by_evidence(methods, name, record, reasoning)
                text, choice, supported = methods.answer(name, record, reasoning, scores)
                texts[name].append(text)
                rows[name].append((choice, supported))
                seconds[name].append(time.perf_counter() - began)
    expected = [record.choice for record in records]
    result = {}
    for name in given.methods:
        all_ = accuracy([choice for choice, _ in rows[name]], expected)
        sure = [(c, e) for (c, s), e in zip(rows[name], expected, strict=True) if s]
        of_sure = accuracy([c for c, _ in sure], [e for _, e in sure])
        result[name] = {
            "correct": all_.correct,
            "wrong": all_.wrong,
            "failed": all_.failed,
            "by evidence": 100 * len(sure) / max(len(records), 1),
            "correct of these": of_sure.correct,
            "p50 seconds": common.quantile(seconds[name], 0.5),
        }
    if records and records[0].reference:
        compare(given, records, texts, result)
    show(given, "choices", len(records), result)


def by_evidence(
    methods: Methods, name: str, record: GraphQuestion, reasoning: Any
) -> tuple[Any, ...]:
    """Score options by what a baseline retrieves: documents for question and option, or names."""
    from kgp_neo4j.mindmap.answer.same_names import same
    from kgp_neo4j.types.mindmap import OptionScore

    made = []
    names = {same(x) for t in reasoning.triples for x in (t.head, t.tail)}
    for label, text in record.options.items():
        if name in methods.retrievers:
            found = methods.retrievers[name].retrieve(f"{record.question} {text}", 1)
            score = found[0][1] if found else 0.0
        else:
            own = same(text)
            score = float(sum(n in own for n in names) if own else 0)
        made.append(OptionScore(label, text, score))
    return tuple(made)


# --- Answers --------------------------------------------------------------------------------------


def answers(given: Any) -> None:
    """Answer each question with each method, and measure the answers."""
    from kgp_neo4j.evaluate.graph_questions import read_graph_questions
    from kgp_neo4j.evaluate.mindmap import grounding
    from kgp_neo4j.graphdb.install import open_database

    records = read_graph_questions(given.file, given.questions)
    texts: dict[str, list[str]] = {name: [] for name in given.methods}
    carried: dict[str, list[float]] = {name: [] for name in given.methods}
    named: dict[str, list[float]] = {name: [] for name in given.methods}
    with open_database(echo=common.say) as database:
        graph = opened_graph(database, given)
        methods = Methods(database, graph, given)
        vocabulary = [row["name"] for row in database.read("explore/all_names", graph=graph)]
        for record in records:
            linked = methods.linked(record.question)
            wanted = set(grounding(record.reference, (), vocabulary).named)
            for name in given.methods:
                reasoning = methods.evidence(name, record.question, linked)
                text, _, _ = methods.answer(name, record, reasoning)
                held = {x for t in reasoning.triples for x in (t.head, t.tail)}
                found = grounding(text, held, vocabulary, record.question)
                texts[name].append(text)
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
    compare(given, records, texts, result)
    show(given, "answers", len(records), result)


def compare(
    given: Any,
    records: Sequence[GraphQuestion],
    texts: Mapping[str, Sequence[str]],
    result: dict[str, dict[str, Any]],
) -> None:
    """Add BERTScore and a judge's verdicts on the texts to the result, where they are asked for."""
    from kgp_neo4j.evaluate.mindmap import bert_score, judge_pair, judge_ranks, mean_ranks, tally

    references = [record.reference for record in records]
    for name in texts if given.bert else ():
        scores = bert_score(texts[name], references, given.bert)
        for at, part in enumerate(("precision", "recall", "F1")):
            result[name][f"BERTScore {part}"] = 100 * common.mean(s[at] for s in scores)
    if (judge := writer(given.judge)) is None:
        return
    first, *others = texts
    for name in others:
        verdicts = [
            judge_pair(judge, record.question, record.reference, texts[first][at], texts[name][at])
            for at, record in enumerate(records)
        ]
        result[name] |= {f"{first} {k}": v for k, v in tally(verdicts).items()}
    ranks = [
        judge_ranks(judge, r.question, r.reference, {name: texts[name][at] for name in texts})
        for at, r in enumerate(records)
    ]
    for name, rank in mean_ranks(ranks).items():
        result[name]["mean rank"] = rank


# --- Published outputs ----------------------------------------------------------------------------

#: The columns of MindMap's published outputs: the reply, and what its authors counted it as.
_PUBLISHED = {
    "GPT-3.5": ("chatgpt", "chatgpt_acc"),
    "BM25 documents": ("document+bm25", "bm25_acc"),
    "embedding documents": ("document+embedding", "embedding_acc"),
    "KG retriever": ("kg_retrival", "kg_acc"),
    "GPT-4": ("gpt4", "gpt4_acc"),
    "MindMap": ("MindMap_output1", "mindmap_acc"),
}
_COUNTED = {"1": "correct", "0": "wrong", "2": "failed"}
#: How a reply of the published file begins, as its prompt asked.
_OUTPUT = regex.compile(r"^\W*(?:output|输出)?\s*\d+\s*[:：]\s*", regex.IGNORECASE)
_OPTION = regex.compile(r"^([A-E])[:：](.*)$", regex.MULTILINE)


def published(given: Any) -> None:
    """Score published outputs again."""
    from kgp_neo4j.evaluate.graph_questions import GraphQuestion
    from kgp_neo4j.evaluate.mindmap import accuracy
    from kgp_neo4j.mindmap.answer.options import read_choice

    csv.field_size_limit(sys.maxsize)
    with given.file.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[: given.questions]
    records = [
        GraphQuestion(row["Question"], row["label"], dict(_OPTION.findall(row["Question"])),
                      row["label_choice"].strip())
        for row in rows
    ]  # fmt: skip
    result: dict[str, dict[str, Any]] = {}
    for name, (column, counted) in _PUBLISHED.items():
        chosen = [
            read_choice(
                _OUTPUT.sub("", row[column].strip()),
                {label: text.strip() for label, text in record.options.items()},
            )
            for row, record in zip(rows, records, strict=True)
        ]
        again = accuracy(chosen, [record.choice for record in records])
        kinds = [
            "failed" if not label else "correct" if label == record.choice else "wrong"
            for label, record in zip(chosen, records, strict=True)
        ]
        authors = [_COUNTED[row[counted].strip()] for row in rows]
        result[name] = {k: getattr(again, k) for k in ("correct", "wrong", "failed")}
        for kind in ("correct", "wrong", "failed"):
            result[name][f"authors' {kind}"] = 100 * common.mean(a == kind for a in authors)
        result[name]["agreed"] = 100 * common.mean(
            one == other for one, other in zip(kinds, authors, strict=True)
        )
    texts = {name: [row[column] for row in rows] for name, (column, _) in _PUBLISHED.items()}
    compare(given, records, texts, result)
    show(given, "published", len(records), result)


def show(given: Any, command: str, number: int, result: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the figures, and write them with the settings they were made with."""
    columns = list(dict.fromkeys(key for row in result.values() for key in row))
    print(f"{number} questions, {given.llm or 'no language model'}; {common.described()}\n")
    table = [[name, *(row.get(c) for c in columns)] for name, row in result.items()]
    print(common.markdown(["method", *columns], table))
    save(given, command, result)


def save(given: Any, command: str, result: Mapping[str, Any]) -> None:
    """Write the figures with the settings they were made with."""
    settings = {
        "file": given.file.name,
        "questions": given.questions,
        "size": given.size,
        "llm": given.llm,
        "aggregate": given.aggregate,
        "relevance": given.relevance,
    }
    name = f"mindmap-{command}-{common.safe(given.file.name.split('.')[0])}"
    common.say(
        f"written: {common.keep(given.out, name, {'settings': settings, 'methods': result})}"
    )


def main() -> None:
    """Read the command line and run."""
    parser = common.parser(__doc__ or "", None)
    parser.add_argument("command", choices=("choices", "answers", "published"))
    parser.add_argument(
        "file", type=Path, help="questions (.json or .jsonl, also .gz), or published outputs (.csv)"
    )
    parser.add_argument("--triples", type=Path, help="a file of triples to load")
    parser.add_argument("--table", type=Path, help="a table to load with --mapping")
    parser.add_argument("--mapping", help="a mapping's name or TOML file")
    parser.add_argument("--graph", help="a graph that is loaded already")
    parser.add_argument("--size", type=common.positive, default=40, help="triples of evidence")
    parser.add_argument(
        "--methods", type=common.words, help="default: all (the last two need --llm)"
    )
    parser.add_argument("--aggregate", choices=("rules", "llm"), default="rules")
    parser.add_argument("--relevance", choices=("ranked", "llm"), default="ranked")
    parser.add_argument("--llm", help="the model that answers: a chat server's, or local:FOLDER")
    parser.add_argument("--judge", help="the model that compares answers")
    parser.add_argument("--bert", help="an encoder for BERTScore: folder or name")
    given = parser.parse_args()
    known = (*METHODS, *WITH_MODEL) if given.llm else METHODS
    given.methods = given.methods or list(known)
    common.check(known, given.methods, "method")
    if given.command != "published" and not (given.graph or given.triples or given.table):
        parser.error("give --graph, --triples or --table")
    commands = {"choices": choices, "answers": answers, "published": published}
    with common.explained():
        commands[given.command](given)


if __name__ == "__main__":
    main()
