"""How many of the entities that an answer lists does the evidence graph of its question reach?

    python benchmarks/evidence_coverage.py FOLDER/medical --sizes 20 40
    python benchmarks/evidence_coverage.py FOLDER/kgqa --sample 150
    python benchmarks/evidence_coverage.py QUESTIONS.jsonl --triples FILE.tsv --graph NAME

Questions are JSON lines with `question`, `question_entities` and `answer_entities`; of a folder,
genmedgpt5k_entities_dev.jsonl.gz over emckg/train.txt, or PathQuestion's files over its triples.
MindMap, its two ablations and the paper's KG retriever get the same linked entities and the same
size of evidence, in triples. Prints the reports of `kgp-neo4j evaluate QUESTIONS --graph NAME`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import _common as common

from kgp_neo4j.evaluate.graph_experiment import run_graph_methods
from kgp_neo4j.evaluate.graph_questions import read_graph_questions
from kgp_neo4j.evaluate.questions import draw
from kgp_neo4j.evaluate.report import graph_report
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.mindmap.load.load_graph import load_graph

METHODS = ("mindmap", "mindmap-no-paths", "mindmap-no-neighbours", "kg-retriever")


def sources(path: Path, triples: Path | None, graph: str) -> Iterator[tuple[Path, Path, str]]:
    """Yield files of questions, each with its triples and the name of their graph."""
    if (path / "pathquestion.tsv.gz").is_file():
        for name in ("pathquestion", "pathquestion_large"):
            for hops in (2, 3):
                yield path / f"{name}_{hops}hop_dev.jsonl.gz", path / f"{name}.tsv.gz", name
    elif path.is_dir():
        file = path / "genmedgpt5k_entities_dev.jsonl.gz"
        yield file, triples or path / "emckg" / "train.txt", graph
    elif triples is not None:
        yield path, triples, graph


def main() -> None:
    """Load the graphs that are not in the database, mine every question, and print the reports."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path, help="a file of JSON lines, or the data's folder")
    parser.add_argument("--triples", type=Path, help="head, relation and tail")
    parser.add_argument("--graph", default="bench-emckg")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--sample", type=int, help="so many questions, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    files = list(sources(given.questions, given.triples, given.graph))
    if not files:
        parser.error("--triples is needed with a file of questions")
    with common.explained(), open_database(echo=common.say) as database:
        for file, triples, graph in files:
            if graph not in {each.name for each in graphs(database)}:
                load_graph(database, [triples], graph)
            questions = draw(read_graph_questions(file), given.sample, given.seed)
            for size in given.sizes:
                with tempfile.TemporaryDirectory() as out:
                    result = run_graph_methods(
                        database, file.name, questions, graph, METHODS, Path(out), budget=size
                    )
                print(graph_report(result), flush=True)


if __name__ == "__main__":
    main()
