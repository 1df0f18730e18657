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
from pathlib import Path
from typing import NamedTuple

import _common as common
from _denotations import same_values
from _tables import Asked, read_questions, unpack

from kgp_neo4j import Corpus
from kgp_neo4j.corpus.tables.outline import Library
from kgp_neo4j.corpus.tables.questions.answer_table import answer_from_table


class Row(NamedTuple):
    """Whether a question's answer is right and stated, and what it took."""

    right: bool
    sure: bool
    seconds: float


def main() -> None:
    """Load, ask, print."""
    parser = common.parser(__doc__, None, "WikiTableQuestions")
    parser.add_argument("--split", default="dev", help="dev, train, or a file's name (dev)")
    given = parser.parse_args()
    questions = read_questions(given.folder, given.split)[: given.questions]
    scratch = tempfile.TemporaryDirectory()
    with common.explained(), scratch as place, Corpus("bench-tables") as corpus:
        files = unpack(given.folder, Path(place), {q.table for q in questions})
        common.say(f"{corpus.load(files).tables} tables")
        rows = ask(Library(corpus.database, corpus.name), questions)
    for name, figure in summed(rows).items():
        print(f"{name:12} {figure}")


def ask(library: Library, questions: list[Asked]) -> list[Row]:
    """Ask every question of its table."""
    rows = []
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
        rows.append(Row(same_values(answer.values, asked.values), answer.sure, seconds))
        if at % 500 == 0:
            common.say(f"{at} of {len(questions)}")
    return rows


def summed(rows: list[Row]) -> dict[str, float]:
    """Return the figures of a run."""
    sure = [row for row in rows if row.sure]
    times = [row.seconds * 1000 for row in rows]
    return {
        "questions": len(rows),
        "accuracy": round(100 * sum(row.right for row in rows) / len(rows), 2),
        "coverage": round(100 * len(sure) / len(rows), 2),
        "precision": round(100 * sum(row.right for row in sure) / max(len(sure), 1), 2),
        "p50 ms": round(common.quantile(times, 0.5), 1),
        "p95 ms": round(common.quantile(times, 0.95), 1),
    }


if __name__ == "__main__":
    main()
