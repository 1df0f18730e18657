"""Plain questions over documents of other kinds than Wikipedia: what is answered, what is shown.

    python benchmarks/documents.py FOLDER
    python benchmarks/documents.py benchmarks/workplace --asked benchmarks/workplace/open.json
    python benchmarks/documents.py benchmarks --asked benchmarks/everyday_open.json

Loads the files that a list of questions names as one corpus, connects it and asks: by default
reports, forms, a transcript, expenditure tables, papers, notes in Korean and medical texts
(`document_questions.json`); `workplace/` has what a small company writes, in two halves; over these
and documents of the trials `everyday_*.json` asks in words that the sentences have not. First and
among 5 is a passage with the sentence that answers. An answer leads where it is stated or probable,
and is right as in benchmarks/reading.py; shown is what a person sees without one: up to three
sentences. Prints Markdown.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import _common as common

from kgp_neo4j import Corpus
from kgp_neo4j.train.examples import occurrences
from kgp_neo4j.train.reader_calibration import is_right
from kgp_neo4j.types.corpus import Answer

QUESTIONS = Path(__file__).with_name("document_questions.json")
COLUMNS = (
    "questions", "first", "among 5", "right", "leads", "right of these", "stated",
    "right of these", "shown",
)  # fmt: skip


def holds(text: str, answers: Iterable[str]) -> bool:
    """Return whether a text has one of the answers in it, as whole words."""
    return any(occurrences(text, answer) for answer in answers)


def facts_of(answer: Answer, one: common.Record) -> tuple[bool, ...]:
    """Return what `COLUMNS` count of an answer; a foreign question is right where none leads."""
    leads, answers = answer.tier in ("stated", "probable"), one["answers"]
    right = is_right(answer.text, answers) if answers else not leads
    if one.get("kind") == "why":
        right = holds(answer.text, answers)
    sentences = " ".join((answer.text, *(sentence.text for sentence in answer.sentences)))
    # Yes and no stand in no sentence.
    shown = one["sentence"] if one.get("kind") in ("limit", "yes/no") else ""
    seen = shown in sentences if shown else holds(sentences, answers)
    said = _line(one.get("sentence", ""))
    held = [bool(said) and said in _line(passage.text) for passage in answer.passages[:5]]
    found, stated = (any(held[:1]), any(held)), answer.stated
    return (True, *found, right, leads, leads and right, stated, stated and right, seen)


def _line(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    """Load, ask and print."""
    parser = common.plain_parser(__doc__, "holds the files that the questions are about")
    parser.add_argument("--asked", type=Path, default=QUESTIONS, help="the list of questions")
    given = parser.parse_args()
    asked = json.loads(given.asked.read_text(encoding="utf-8"))
    counted: dict[str, list[tuple[bool, ...]]] = {}
    with Corpus(f"bench-{given.asked.stem}") as corpus:
        corpus.load([str(given.folder / name) for name in asked["files"]])
        corpus.connect()
        for one in asked["questions"]:
            answer, kind = corpus.ask(one["question"]), one.get("kind", "fact")
            counted.setdefault(kind, []).append(facts_of(answer, one))
    table = [(kind, *map(sum, zip(*facts, strict=True))) for kind, facts in counted.items()]
    print(f"{common.described()}\n\n{common.markdown(('kind', *COLUMNS), table)}")


if __name__ == "__main__":
    main()
