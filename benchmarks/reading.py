"""Exact match and F1 of the offline reader on retrieved and on golden passages, and how sure it is.

    python benchmarks/reading.py FOLDER
    python benchmarks/reading.py FOLDER --given

FOLDER holds hotpotqa/, 2wiki/ and musique/, whose corpora are in the database as `bench-NAME` (made
by benchmarks/multihop.py). Retrieved are the passages of `ask`'s default agent, golden those that
the data set says hold the answer. AUROC tells how well the confidence ranks, "at nine in ten" which
share of the questions could be stated so, and the error how far the confidence is off. The seconds
go from the question to the answer in a running process. Prints Markdown.

`--given` needs no database: the golden passages alone, the single steps of MuSiQue's questions, and
questions of a kind never trained on: IIRC's (iirc/) over their paragraph and what it links to. The
likeliest answer counts there, however sure.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _common as common
import numpy as np

from kgp_neo4j.corpus.read.reader import SHIPPED, OfflineReader
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.evaluate.scores import draw
from kgp_neo4j.graphdb.database import open_database
from kgp_neo4j.models.reader.network import read_judge, read_network
from kgp_neo4j.train.examples import decomposed
from kgp_neo4j.train.reader_calibration import calibration_error, is_right
from kgp_neo4j.types.corpus import Passage, Question, ReasoningPath

NAMES = {"hotpotqa": "HotpotQA", "2wiki": "2WikiMultihopQA", "musique": "MuSiQue"}


@dataclass(frozen=True, slots=True)
class Case:
    """A question, its right answers, what is read, and the seconds of finding that."""

    question: str
    answers: Sequence[str]
    passages: tuple[Passage, ...]
    paths: tuple[ReasoningPath, ...] = ()
    seconds: float = 0.0


def answers_of(record: common.Record) -> list[str]:
    """Return the right answers of a question."""
    return [record["answer"], *record.get("answer_aliases", [])]


def given_passages(texts: Sequence[tuple[str, str]]) -> tuple[Passage, ...]:
    """Return passages of titles and texts."""
    return tuple(
        Passage(f"given {at}", "", title, at, 0, len(text), text)
        for at, (title, text) in enumerate(texts)
    )


def golden(record: common.Record) -> tuple[Passage, ...]:
    """Return the passages that hold what a question needs."""
    if "paragraphs" in record:
        rows = [p for p in record["paragraphs"] if p["is_supporting"]]
        return given_passages([(p["title"], p["paragraph_text"]) for p in rows])
    titles = {fact[0] for fact in record["supporting_facts"]}
    texts = [(title, " ".join(" ".join(said).split())) for title, said in record["context"]]
    return given_passages([(title, text) for title, text in texts if title in titles])


def retrieved(database: Any, name: str, records: list[common.Record]) -> Iterator[Case]:
    """Yield the questions over what is retrieved for each."""
    retriever = PassageRetriever(database, f"bench-{name}")
    retriever.retrieve(Question("", records[0]["question"]))  # what is loaded on first use
    for record in records:
        got = retriever.retrieve(Question("", record["question"]))
        yield Case(record["question"], answers_of(record), got.passages, got.paths, got.seconds)


def linked(records: Sequence[common.Record]) -> Iterator[Case]:
    """Yield IIRC's questions that one span answers, over their paragraph and what it links to."""
    for record in records:
        spans = [span for answer in record["answer"] for span in answer.get("spans", ())]
        if record["answer_type"] in ("span", "spans") and len(spans) == 1:
            texts = [(c["title"], c["sent"]) for c in record["context"] if isinstance(c, dict)]
            passages = given_passages([("", record["paragraph"].strip()), *texts])
            yield Case(record["question"], spans, passages)


def kinds(given: Any, database: Any) -> Iterator[tuple[str, str, list[Case]]]:
    """Yield what is read: a set or kind of questions, over which passages, and the cases."""
    for name, title in NAMES.items():
        path = given.folder / name / "dev.jsonl.gz"
        records = draw(common.read_lines(path), given.questions, given.seed)
        if database:
            yield title, "retrieved", list(retrieved(database, name, records))
        yield title, "golden", [Case(r["question"], answers_of(r), golden(r)) for r in records]
        if given.given and name == "musique":
            steps = [step for record in records for step in decomposed(record)]
            singles = [Case(asked, [a], given_passages([(t, x)])) for asked, a, t, x in steps]
            yield f"{title}, single steps", "golden", singles
    if given.given:
        path = given.folder / "iirc/dev.jsonl.gz"
        records = draw(common.read_lines(path), given.questions, given.seed)
        yield "IIRC, never trained on", "golden", list(linked(records))


def risk(judged: Sequence[tuple[float, bool]]) -> tuple[float, float, float]:
    """Return a confidence's area under the ROC curve, share at nine in ten right, and error, in %.

    That is the largest share of the surest answers of which nine in ten are right.
    """
    ranked = np.array([right for _, right in sorted(judged, reverse=True)])
    right, places = ranked.cumsum(), np.arange(1, len(ranked) + 1)
    area = right[~ranked].sum() / max(1, ranked.sum() * (~ranked).sum())
    most = max(places[10 * right >= 9 * places], default=0)
    return 100 * area, 100 * most / len(ranked), 100 * calibration_error(*zip(*judged, strict=True))


def measure(reader: OfflineReader, cases: Sequence[Case], scorer: Any) -> dict[str, Any]:
    """Return EM and F1, what was stated, the median of seconds, and the confidence's figures."""
    exact, shared, reading, whole, stated, judged = [], [], [], [], [], []
    for case in cases:
        began = time.perf_counter()
        got = reader.read(case.question, case.passages, case.paths)
        took = time.perf_counter() - began
        exact.append(any(scorer.normalise(got.text) == scorer.normalise(a) for a in case.answers))
        shared.append(max(scorer.f1(got.text, a) for a in case.answers))
        reading.append(took)
        whole.append(took + case.seconds)
        right = is_right(got.text, case.answers)
        stated += [right] if got.stated else []
        judged.append((0.0 if got.kind == "none" else got.confidence, right))
    return {
        "EM": 100 * common.mean(exact),
        "F1": 100 * common.mean(shared),
        "stated": len(stated),
        "right of these, %": 100 * common.mean(stated),
        **dict(zip(("AUROC", "at nine in ten, %", "error"), risk(judged), strict=True)),
        "reading p50, s": f"{common.quantile(reading, 0.5):.3f}",
        "in all p50, s": f"{common.quantile(whole, 0.5):.3f}",
    }


def main() -> None:
    """Measure and print."""
    parser = common.parser(__doc__, None, "holds hotpotqa/, 2wiki/ and musique/")
    parser.add_argument("--given", action="store_true", help="only passages that are given")
    parser.add_argument("--reader", metavar="FOLDER", help="a reader of your training")
    parser.add_argument("--score", type=common.scorer, default="score.py", help="has normalise, f1")
    given = parser.parse_args()
    folder, rows = Path(given.reader or SHIPPED), []
    network, card = read_network(folder)
    if given.given:
        card["calibration"]["threshold"] = 0.0  # the likeliest answer is given, however sure
    reader = OfflineReader(network, card, read_judge(folder))
    with nullcontext() if given.given else open_database(echo=common.say) as database:
        for name, passages, cases in kinds(given, database):
            if not cases:  # of few questions none may be of a kind
                continue
            reader.read(cases[0].question, cases[0].passages)  # what is loaded on first use
            got = measure(reader, cases, given.score)
            rows.append((name, len(cases), passages, *got.values()))
    print(common.described())
    print(f"\n{common.markdown(('set', 'questions', 'passages', *got), rows)}")


if __name__ == "__main__":
    main()
