"""Train the ranker of questions over tables that is shipped, again.

    python benchmarks/train_table_ranker.py FOLDER/wikitablequestions --out trained

Reads the questions and answers of the training split of WikiTableQuestions (never those of dev),
adds plain questions made of the same tables' own names, and writes ranker.safetensors and
ranker.json. The confidence is fitted on answers of rankers that had not seen the question's
table (three folds).
"""

from __future__ import annotations

import argparse
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Sequence
from multiprocessing import Pool
from pathlib import Path
from random import Random
from typing import Any

from _common import say
from _tables import Asked, grid_from, read_questions, unpack

from kgp_neo4j.corpus.tables.questions.candidates import candidates
from kgp_neo4j.corpus.tables.questions.cell_links import link
from kgp_neo4j.corpus.tables.questions.features import example
from kgp_neo4j.corpus.tables.questions.plans import denotation
from kgp_neo4j.corpus.tables.questions.ranker import Ranker, confidence_row, groups_of
from kgp_neo4j.evaluate.denotations import same_values
from kgp_neo4j.train.table_forms import made_up
from kgp_neo4j.train.table_questions import (
    RankerSettings,
    Sample,
    grow_confidence,
    save,
    train_ranker,
)

FOLDS = 3
#: Share of right answers among those that are stated.
PRECISION = 0.825
#: Made-up questions for each table, and how much one counts beside a person's.
MADE_UP, LESS = 6, 0.4


def main() -> None:
    """Read, train in folds, fit the confidence, train on all, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="WikiTableQuestions")
    parser.add_argument("--out", type=Path, required=True, help="the folder that is written")
    parser.add_argument("--limit", type=int, help="so many tables only, to try it out")
    given = parser.parse_args()
    natural, plain = read(given.folder, "train", given.limit)
    say(
        f"{len(natural)} questions, {len(plain)} made up, "
        f"{sum(any(s.right) for s in natural) / len(natural):.1%} can be reached"
    )
    settings = RankerSettings()
    rows: list[tuple[list[float], bool, bool]] = []
    for fold in range(FOLDS):
        seen = [s for s in [*natural, *plain] if s.part != fold]
        ranker = Ranker(*train_ranker(seen, settings))
        for made, group in ((False, natural), (True, plain)):
            held = [s for s in group if s.part == fold and s.groups]
            judged = [judged_by(ranker, s) for s in held]
            rows += [(row, right, made) for right, row in judged]
            say(
                f"fold {fold + 1}, {'made up' if made else 'asked'}: "
                f"{sum(right for right, _ in judged) / len(held):.1%} right"
            )
    trees = grow_confidence([row for row, _, _ in rows], [right for _, right, _ in rows])
    weights, card = train_ranker([*natural, *plain], settings, say)
    card["confidence"] = trees
    card["threshold"] = given_threshold(rows, PRECISION)
    card["description"] = {
        "data": "WikiTableQuestions 1.0.2, random-split-1-train (CC BY-SA 4.0), and questions made "
        "of its tables",
        "questions": len(natural),
        "made up": len(plain),
        "licence": "Apache-2.0",
    }
    save(given.out, weights, card)
    say(f"stated from a confidence of {card['threshold']} on; {given.out} is written")


def judged_by(ranker: Ranker, sample: Sample) -> tuple[bool, list[float]]:
    """Return whether a ranker's best answer is right, and the inputs of its confidence."""
    best, row = confidence_row(ranker, sample.example, sample.groups)
    return bool(sample.right[best]), row


def read(folder: Path, split: str, limit: int | None) -> tuple[list[Sample], list[Sample]]:
    """Return the samples of a split's questions, and those of questions made up."""
    by_table: dict[str, list[Asked]] = defaultdict(list)
    for asked in read_questions(folder, split):
        by_table[asked.table].append(asked)
    names = sorted(by_table)[:limit]
    natural: list[Sample] = []
    plain: list[Sample] = []
    with tempfile.TemporaryDirectory() as place:
        unpack(folder, Path(place), set(names))
        work = [(Path(place), name, by_table[name]) for name in names]
        with Pool(2) as pool:
            for asked, made in pool.imap(_samples, work, chunksize=4):
                natural += asked
                plain += made
    return natural, plain


def _samples(work: tuple[Path, str, Sequence[Asked]]) -> tuple[list[Sample], list[Sample]]:
    place, name, questions = work
    grid = grid_from(place / name)
    part = zlib.crc32(name.encode()) % FOLDS
    natural = [_sample(q.text, q.values, grid, part, 1.0) for q in questions]
    random = Random(zlib.crc32(name.encode()))
    plain = [
        _sample(text, values, grid, part, LESS)
        for text, plan in made_up(grid, random, MADE_UP)
        if 0 < len(values := denotation(grid, plan).values) <= 30
    ]
    return natural, plain


def _sample(text: str, values: Sequence[str], grid: Any, part: int, weight: float) -> Sample:
    links = link(text, grid)
    readings = candidates(links, grid)
    right = {given: same_values(given, values) for given in {r.result.values for r in readings}}
    judged = [right[reading.result.values] for reading in readings]
    return Sample(example(links, grid, readings), judged, groups_of(readings), part, weight)


def given_threshold(rows: Sequence[tuple[list[float], bool, bool]], precision: float) -> float:
    """Return the lowest confidence from which on people's questions are right often enough.

    The trees are fitted anew without each fold's fifth, so that no row judges itself.
    """
    import numpy as np

    from kgp_neo4j.corpus.tables.questions.ranker import CONFIDENCE
    from kgp_neo4j.models.trees import Trees

    judged: list[tuple[float, bool]] = []
    for fold in range(FOLDS):
        kept = [r for at, r in enumerate(rows) if at * FOLDS // len(rows) != fold]
        held = [r for at, r in enumerate(rows) if at * FOLDS // len(rows) == fold and not r[2]]
        trees = Trees(CONFIDENCE, grow_confidence([r[0] for r in kept], [r[1] for r in kept]))
        scores = trees.scores(np.array([r[0] for r in held], np.float32))
        judged += list(zip(1 / (1 + np.exp(-scores)), [r[1] for r in held], strict=True))
    judged.sort(reverse=True)
    best = 1.0
    shares = np.cumsum([good for _, good in judged]) / np.arange(1, len(judged) + 1)
    for at, ((confidence, _), share) in enumerate(zip(judged, shares, strict=True), 1):
        if at >= 50 and share >= precision:
            best = confidence
        if at % (len(judged) // 20) == 0:
            say(f"the surest {at / len(judged):.0%}: {share:.1%} right, from {confidence:.2f} on")
    return round(float(best), 3)


if __name__ == "__main__":
    main()
