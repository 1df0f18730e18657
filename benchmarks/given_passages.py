"""F1 of an offline reader over passages that are given, some of a kind never trained on.

    python benchmarks/given_passages.py FOLDER
    python benchmarks/given_passages.py FOLDER --reader trained/reader

FOLDER holds hotpotqa/, 2wiki/, musique/ and iirc/. Read are the supporting passages of development
questions, the single steps of MuSiQue's questions, and IIRC's questions over their paragraph and
what it links to. The likeliest answer counts, however sure. Needs no database. Prints Markdown.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import _common as common
from reading import NAMES, Case, answers_of, given_passages, golden, measure

from kgp_neo4j.corpus.read.reader import SHIPPED, OfflineReader
from kgp_neo4j.models.reader.network import read_judge, read_network
from kgp_neo4j.train.reader_examples import decomposed


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
    parser.add_argument("--score", type=common.scorer, default="score.py", help="has normalise, f1")
    given = parser.parse_args()
    cases: dict[str, list[Case]] = {}
    with common.explained():
        folder = given.reader or SHIPPED
        network, card = read_network(folder)
        card["calibration"]["threshold"] = 0.0  # the likeliest answer is given, however sure
        reader = OfflineReader(network, card, read_judge(folder))
        for name, shown in NAMES.items():
            file = given.folder / name / "dev.jsonl.gz"
            records = common.questions_of(file, given.questions, given.seed)
            cases[shown] = [Case(r["question"], answers_of(r), golden(r)) for r in records]
        cases["MuSiQue, single steps"] = [
            Case(question, [answer], given_passages([(title, text)]))
            for record in records
            for question, answer, title, text in decomposed(record)
        ]
        unseen = given.folder / "iirc/dev.jsonl.gz"
        records = common.questions_of(unseen, given.questions, given.seed)
        cases["IIRC, never trained on"] = list(linked(records))
    shown = ("EM", "F1", "AUROC", "at nine in ten, %", "error")
    rows = []
    for name, asked in cases.items():
        if not asked:  # few questions have none of a kind
            continue
        got = measure(reader, asked, given.score)
        rows.append((name, len(asked), *(got[key] for key in shown)))
    header = ("questions", "number", *shown)
    print(f"{common.described()}\n\n{common.markdown(header, rows)}")


if __name__ == "__main__":
    main()
