"""F1 of an offline reader over passages that are given, some of a kind never trained on.

    python benchmarks/given_passages.py FOLDER
    python benchmarks/given_passages.py FOLDER --reader trained/reader

FOLDER holds hotpotqa/, 2wiki/, musique/ and iirc/. Read are the supporting passages of development
questions, the same with three of the set's own distractors in drawn order, the single steps of
MuSiQue's questions, and IIRC's questions over their paragraph and what it links to. The likeliest
answer counts, however sure. Needs no database. Prints Markdown.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import _common as common
from reading import NAMES, Case, answers_of, given_passages, golden, measure

from kgp_neo4j.corpus.read.reader import SHIPPED, OfflineReader
from kgp_neo4j.models.reader.network import read_judge, read_network
from kgp_neo4j.train.examples import read_training_questions
from kgp_neo4j.train.reader_examples import decomposed

#: Distractors that are put beside the supporting passages.
_BESIDE = 3


def cases_of(
    file: Path, records: Sequence[common.Record], draw: random.Random
) -> tuple[list[Case], list[Case]]:
    """Return questions over their supporting passages, and with some distractors beside them."""
    others = {q.question: q.distractors for q in read_training_questions([file])}
    alone, among = [], []
    for record in records:
        right = [(p.title, p.text) for p in golden(record)]
        beside = list(others[record["question"]])
        both = [*right, *draw.sample(beside, min(_BESIDE, len(beside)))]
        for cases, texts in ((alone, right), (among, both)):
            draw.shuffle(texts)
            cases.append(Case(record["question"], answers_of(record), given_passages(texts)))
    return alone, among


def linked(records: Sequence[common.Record]) -> Iterator[Case]:
    """Yield IIRC's questions that one span answers, over their paragraph and what it links to."""
    for record in records:
        spans = [span for answer in record["answer"] for span in answer.get("spans", ())]
        if record["answer_type"] in ("span", "spans") and len(spans) == 1:
            texts = [(c["title"], c["sent"]) for c in record["context"] if isinstance(c, dict)]
            passages = given_passages([("", record["paragraph"].strip()), *texts])
            yield Case(record["question"], spans, passages)


def main() -> None:
    """Measure and print."""
    parser = common.parser(__doc__, None)
    parser.add_argument("--reader", type=Path, metavar="FOLDER", help="a reader of your training")
    parser.add_argument("--score", type=Path, default="score.py", help="has normalise and f1")
    given = parser.parse_args()
    scorer = common.scorer(given.score)
    cases: dict[tuple[str, str], list[Case]] = {}
    draw = random.Random(given.seed)
    with common.explained():
        folder = given.reader or SHIPPED
        network, card = read_network(folder)
        card["calibration"]["threshold"] = 0.0  # the likeliest answer is given, however sure
        reader = OfflineReader(network, card, read_judge(folder))
        for name, shown in NAMES.items():
            file = given.folder / name / "dev.jsonl.gz"
            records = common.questions_of(file, given.questions, given.seed)
            alone, among = cases_of(file, records, draw)
            cases[shown, "golden"], cases[shown, "with three others"] = alone, among
        cases["MuSiQue, single steps", "golden"] = [
            Case(question, [answer], given_passages([(title, text)]))
            for record in records
            for question, answer, title, text in decomposed(record)
        ]
        unseen = given.folder / "iirc/dev.jsonl.gz"
        records = common.questions_of(unseen, given.questions, given.seed)
        cases["IIRC, never trained on", "golden"] = list(linked(records))
    shown = ("EM", "F1", "AUROC", "at nine in ten, %", "error")
    rows = []
    for (name, passages), asked in cases.items():
        got = measure(reader, asked, scorer)
        rows.append((name, len(asked), passages, *(got[key] for key in shown)))
    header = ("questions", "number", "passages", *shown)
    print(f"{common.described()}\n\n{common.markdown(header, rows)}")


if __name__ == "__main__":
    main()
