"""Plain questions over documents of other kinds than Wikipedia: what is answered, what is shown.

    python benchmarks/documents.py FOLDER

Loads reports, forms, a transcript, expenditure tables, papers, notes in Korean and medical texts as
one corpus (`document_questions.json` names files and questions), connects it and asks. An answer is
right as in benchmarks/reading.py; shown is what a person sees who gets no sure answer: up to three
sentences. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import _common as common

from kgp_neo4j import Corpus
from kgp_neo4j.train.reader_calibration import is_right
from kgp_neo4j.types.corpus import Answer

QUESTIONS = Path(__file__).with_name("document_questions.json")
NAME = "bench-documents"


def holds(text: str, answers: list[str]) -> bool:
    """Return whether a text has one of the answers in it."""
    low = " ".join(text.split()).casefold()
    return any(" ".join(answer.split()).casefold() in low for answer in answers)


def main() -> None:
    """Load, ask and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="holds the files that the questions are about")
    given = parser.parse_args()
    asked = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    rows: list[tuple[str, Answer, list[str]]] = []
    with common.explained(), Corpus(NAME) as corpus:
        corpus.load([str(given.folder / name) for name in asked["files"]])
        corpus.connect()
        for one in asked["questions"]:
            rows.append((one["question"], corpus.ask(one["question"]), one["answers"]))
    table = []
    for question, answer, answers in rows:
        right = is_right(answer.text, answers)
        shown = " ".join((answer.text, *(sentence.text for sentence in answer.sentences)))
        among = holds(" ".join(p.text for p in answer.passages[:10]), answers)
        among |= answer.structural is not None and right
        facts = (answer.stated, right, holds(shown, answers), among)
        table.append((question, answer.text[:60], facts))
    header = ("question", "answer", "stated", "right", "shown", "among ten")
    marked = [(q, text, *("yes" if fact else "" for fact in facts)) for q, text, facts in table]
    print(f"{common.described()}\n\n{common.markdown(header, marked)}")
    stated, right, seen, found = (
        sum(column) for column in zip(*(f for _, _, f in table), strict=True)
    )
    both = sum(facts[0] and facts[1] for _, _, facts in table)
    print(
        f"\nOf {len(rows)}: right {right}; answer shown {seen}; stated {stated}, of these right "
        f"{both}; found among ten passages {found}"
    )


if __name__ == "__main__":
    main()
