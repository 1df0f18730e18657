"""F1 of an offline reader over passages that are given, some of a kind never trained on.

    python benchmarks/given_passages.py FOLDER
    python benchmarks/given_passages.py FOLDER --reader trained/reader

FOLDER holds hotpotqa/, 2wiki/, musique/ and iirc/. Read are the supporting passages of development
questions, the same with three of the set's own distractors in drawn order, the single steps of
MuSiQue's questions, and IIRC's questions over their paragraph and what it links to. The likeliest
answer counts, however sure. Needs no database. Prints Markdown.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import _common as common
from reading import NAMES, answers_of, golden

from kgp_neo4j.corpus.read.choosing import Calibration
from kgp_neo4j.corpus.read.reader import load_reader
from kgp_neo4j.train.examples import read_training_questions
from kgp_neo4j.train.reader_calibration import calibration_error, is_right
from kgp_neo4j.train.reader_examples import decomposed
from kgp_neo4j.types.corpus import Passage

#: Distractors that are put beside the supporting passages.
_BESIDE = 3


@dataclass(frozen=True, slots=True)
class Given:
    """A question with its passages (title, text) and the right answers."""

    question: str
    texts: Sequence[tuple[str, str]]
    answers: Sequence[str]

    def passages(self) -> list[Passage]:
        """Return the passages, with an id each."""
        return [
            Passage(str(at), "", title, at, 0, len(text), text)
            for at, (title, text) in enumerate(self.texts)
        ]


def several(
    records: Sequence[common.Record],
    others: Mapping[str, Sequence[tuple[str, str]]],
    draw: random.Random,
) -> tuple[list[Given], list[Given]]:
    """Return the questions over their supporting passages, and with some of `others` beside."""
    alone, among = [], []
    for record in records:
        right = [(p.title, p.text) for p in golden(record)]
        beside = list(others[record["question"]])
        both = [*right, *draw.sample(beside, min(_BESIDE, len(beside)))]
        draw.shuffle(right)
        draw.shuffle(both)
        alone.append(Given(record["question"], right, answers_of(record)))
        among.append(Given(record["question"], both, answers_of(record)))
    return alone, among


def linked(records: Sequence[common.Record]) -> Iterator[Given]:
    """Yield IIRC's questions that one span answers, over their paragraph and what it links to."""
    for record in records:
        spans = [span for answer in record["answer"] for span in answer.get("spans", ())]
        if record["answer_type"] in ("span", "spans") and len(spans) == 1:
            linked = [(c["title"], c["sent"]) for c in record["context"] if isinstance(c, dict)]
            yield Given(record["question"], [("", record["paragraph"].strip()), *linked], spans)


def main() -> None:
    """Measure and print."""
    parser = common.parser(__doc__ or "", None)
    parser.add_argument("folder", type=Path, help="holds the data sets")
    parser.add_argument("--reader", metavar="FOLDER", help="a reader of your training")
    parser.add_argument(
        "--score", type=Path, default=Path("score.py"), metavar="FILE",
        help="a scorer with normalise and f1 (default: score.py)",
    )  # fmt: skip
    given = parser.parse_args()
    scorer = common.scorer(given.score)
    cases: dict[tuple[str, str], list[Given]] = {}
    draw = random.Random(given.seed)
    with common.explained():
        reader = load_reader(given.reader)
        for name, shown in NAMES.items():
            file = given.folder / name / "dev.jsonl.gz"
            records = common.questions_of(file, given.questions, given.seed)
            others = {q.question: q.distractors for q in read_training_questions([file])}
            alone, among = several(records, others, draw)
            cases[shown, "golden"], cases[shown, "with three others"] = alone, among
            if name == "musique":
                cases[f"{shown}, single steps", "golden"] = [
                    Given(question, [(title, text)], [answer])
                    for record in records
                    for question, answer, title, text in decomposed(record)
                ]
        found = common.questions_of(given.folder / "iirc/dev.jsonl.gz", given.questions, given.seed)
        cases["IIRC, never trained on", "golden"] = list(linked(found))
    print(f"{common.described()}\n")
    print("| questions | number | passages | EM | F1 |\n|---|---|---|---|---|")
    calibration = Calibration.of(reader.card["calibration"])
    sure: list[float] = []
    right: list[bool] = []
    for (name, passages), asked in cases.items():
        exact, shared = [], []
        for one in asked:
            choice = reader.choose(one.question, one.passages())
            exact.append(
                float(
                    any(scorer.normalise(choice.text) == scorer.normalise(a) for a in one.answers)
                )
            )
            shared.append(max(scorer.f1(choice.text, a) for a in one.answers))
            if "IIRC" in name and choice.kind != "none":
                sure.append(calibration.confidence(choice))
                right.append(is_right(choice.text, one.answers))
        cells = f"{100 * common.mean(exact):.1f} | {100 * common.mean(shared):.1f}"
        print(f"| {name} | {len(asked)} | {passages} | {cells} |", flush=True)
    error = 100 * calibration_error(sure, right)
    print(f"\nThe confidence is off by {error:.1f} points on IIRC's questions")


if __name__ == "__main__":
    main()
