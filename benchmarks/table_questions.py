"""Questions over one table: how many are answered rightly, and how sure the answers are.

    python benchmarks/table_questions.py FOLDER/wikitablequestions
    python benchmarks/table_questions.py FOLDER --split pristine-unseen-tables

Loads the tables of the split's questions into the corpus `bench-tables` as `kgp-neo4j load` does,
asks every question of its table, and compares the values as WikiTableQuestions' own evaluator does.
`accuracy` counts the best reading of every question, stated or not; `coverage` is the share of
questions whose answer is stated, `precision` how many of those are right.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import _common as common
from _tables import Asked, read_questions, same_values, unpack

from kgp_neo4j import Corpus
from kgp_neo4j.corpus.tables.outline import Library
from kgp_neo4j.corpus.tables.reading import answer_from_table


def main() -> None:
    """Load, ask, print."""
    parser = common.parser(__doc__, None, "WikiTableQuestions")
    parser.add_argument("--split", default="dev", help="dev, train, or the NAME of NAME.tsv.gz")
    given = parser.parse_args()
    questions = read_questions(given.folder, given.split)[: given.questions]
    scratch = tempfile.TemporaryDirectory()
    with scratch as place, Corpus("bench-tables") as corpus:
        files = unpack(given.folder, Path(place), {q.table for q in questions})
        common.say(f"{corpus.load(files).tables} tables")
        rows = list(ask(Library(corpus.database, corpus.name), questions))
    for name, figure in summed(rows).items():
        print(f"{name:12} {figure}")


def ask(library: Library, questions: list[Asked]) -> Iterator[tuple[bool, bool, float]]:
    """Yield for every question whether its answer is right, whether it is stated, and seconds."""
    # A table's file, as the data set has it.
    tables = {
        "/".join(Path(table.document.source).parts[-3:]): table
        for table in library.tables(library.documents)
    }
    answer_from_table(library, tables[questions[0].table], questions[0].text)
    for at, asked in enumerate(questions, 1):
        start = time.perf_counter()
        answer = answer_from_table(library, tables[asked.table], asked.text)
        seconds = time.perf_counter() - start
        library.queries.clear()
        yield same_values(answer.values, asked.values), answer.sure, seconds
        if at % 500 == 0:
            common.say(f"{at} of {len(questions)}")


def summed(rows: list[tuple[bool, bool, float]]) -> dict[str, float]:
    """Return the figures of a run."""
    right, sure, seconds = zip(*rows, strict=True)
    return {
        "questions": len(rows),
        "accuracy": round(100 * common.mean(right), 2),
        "coverage": round(100 * common.mean(sure), 2),
        "precision": round(100 * common.mean(good for good, stated, _ in rows if stated), 2),
        "p50 ms": round(1000 * common.quantile(seconds, 0.5), 1),
        "p95 ms": round(1000 * common.quantile(seconds, 0.95), 1),
    }


if __name__ == "__main__":
    main()
