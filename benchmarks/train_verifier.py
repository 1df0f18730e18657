"""Train the verifier that is shipped, again: `verifier.safetensors` of `kgp_neo4j/models/reader/`.

    python benchmarks/make_questions.py FOLDER --out made
    python benchmarks/train_verifier.py FOLDER --made made --from BASE --out trained/verifier

Reads questions by the reader that is shipped, and the composed ones by BASE, which has not seen
them (benchmarks/train_reader.py), over their passages beside others, some without the passage that
answers, some with another name or number in the question; and cells of WikiTableQuestions' tables.
An answer that is right or wrong is learned with what it stands in. Questions that the readers kept
for their calibration, and one in ten of the others, are kept for the confidence, with IIRC's, which
no training has seen: it is written to `reader.json`. No development question of the other sets is
read. About an hour on two cores.
"""

import json
import random
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import _common as common
from _tables import Asked as TableQuestion
from _tables import read_questions, unpack
from reading import given_passages, linked
from sklearn.feature_extraction.text import TfidfVectorizer

from kgp_neo4j.corpus.load.contents import markdown, normal
from kgp_neo4j.corpus.load.records import read_values
from kgp_neo4j.corpus.read.choosing import Choice, choose, span_choice
from kgp_neo4j.corpus.read.reader import SHIPPED, Layout, OfflineReader, rows_of
from kgp_neo4j.models.reader.network import (
    CARD_FILE,
    VERIFIER_FILE,
    read_judge,
    read_network,
    spans_of,
)
from kgp_neo4j.text.words import content_words
from kgp_neo4j.train.examples import ReadingExample, read_reading_examples
from kgp_neo4j.train.fitting import Fitting, Folder
from kgp_neo4j.train.reader import TrainedNetwork, fit, is_held_out, trainable
from kgp_neo4j.train.reader_calibration import Asked, batches, fit_calibration, is_right

#: Questions that are drawn of each kind, of one passage, and of tables.
DRAWN = {"hotpotqa": 1500, "2wiki": 600, "musique": 100, "composed": 1600, "swapped": 700}
SINGLE, TABLES = 5400, 11_000
#: Questions that the confidence is fitted to, at most.
KEPT = 900
#: From this confidence on an answer is stated.
STATED = 0.9
#: Shares of questions without a passage that answers, and with something changed in them.
ABSENT, CHANGED = 0.25, 0.1
#: Passages beside those that answer.
BESIDE = (0, 1, 2, 3, 5, 8)
#: The lowest layer that is trained, tokens of a batch, and the rate.
LOWEST, BATCH, RATE = 2, 6144, 1.5e-4
#: The reader's likeliest spans that are looked through for a right answer or a wrong one.
OTHERS = 24
_NAME = re.compile(r"(?<![.?!] )\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*|\b\d[\d.,]*\b")

Texts = Sequence[tuple[str, str]]


@dataclass(slots=True)
class Row:
    """An answer laid out, and whether it is right."""

    ids: list[int]
    types: list[int]
    right: bool


def examples(given: Any, draw: random.Random) -> Iterator[tuple[bool, ReadingExample]]:
    """Yield the questions, each after whether BASE reads it; one passage is beside others."""
    data: Path = given.folder
    for name, most in DRAWN.items():
        made = given.made / f"{name}.jsonl"
        parts = ("train", "train_more") if name == "hotpotqa" else ("train",)
        own = [data / name / f"{part}.jsonl.gz" for part in parts]
        files = [made] if made.is_file() else own
        several = [e for e in read_reading_examples(files) if e.group == "several"]
        yield from ((made.is_file(), e) for e in draw.sample(several, min(most, len(several))))
    single = read_reading_examples([*common.extractive(data), data / "boolq/train_part.jsonl.gz"])
    texts = list(dict.fromkeys(e.passages[0] for e in single))
    terms = TfidfVectorizer(stop_words="english", sublinear_tf=True, max_features=60_000)
    matrix = terms.fit_transform(" ".join(one) for one in texts)
    for e in draw.sample(single, min(SINGLE, len(single))):
        asked = terms.transform([e.question]) + terms.transform([e.passages[0][1]]) / 2
        near = (-(matrix @ asked.T).toarray().ravel()).argsort()[:12]
        others = [texts[at] for at in near if texts[at] != e.passages[0]]
        held = e.answer.lower() if e.kind == "span" else "\0"
        yield False, replace(e, others=tuple(o for o in others if held not in o[1].lower()))


def rows(reader: OfflineReader, question: str, answers: list[str], texts: Texts) -> Iterator[Row]:
    """Yield the reader's own answer, and one more that is right or wrong where that one is not."""
    passages = given_passages(texts)
    windows = reader._read(question, passages)
    own = choose(question, passages, windows)
    layout = Layout(reader._network.tokenizer, question, passages)
    if own.kind == "none":
        return
    good = is_right(own.text, answers)
    yield Row(*layout.of(own), good)
    spans = sorted((s for w, found in windows for s in spans_of(found, w)), key=lambda s: -s.score)
    if own.kind != "span" or not answers:
        return
    for span in spans[:OTHERS]:
        other = span_choice(passages, span)
        if other.text and is_right(other.text, answers) != good:
            yield Row(*layout.of(replace(other, sentences=own.sentences)), not good)
            return


def changed(question: str, texts: Texts, draw: random.Random) -> str:
    """Return the question with a name or number of the texts for its own; empty for none."""
    found = [m for m in _NAME.finditer(question) if m.start()]
    if not found:
        return ""
    own = draw.choice(found)
    number = own[0][0].isdigit()
    others = {m[0] for _, text in texts for m in _NAME.finditer(text) if m.start()}
    fitting = sorted(
        o for o in others if o[0].isdigit() == number and o.lower() not in question.lower()
    )
    return question[: own.start()] + draw.choice(fitting) + question[own.end() :] if fitting else ""


def cells(given: Any, tokenizer: Any, draw: random.Random) -> Iterator[Row | Asked]:
    """Yield cells of tables to learn from, and questions that one cell answers to be kept."""
    folder = given.folder / "wikitablequestions"
    questions = read_questions(folder, "train")
    drawn = draw.sample(questions, min(TABLES, len(questions)))
    ids = {q.id for q in drawn}
    rest = [q for q in questions if q.id not in ids]
    with tempfile.TemporaryDirectory() as place:
        unpack(folder, Path(place), {q.table for q in questions})
        for at, q in enumerate([*drawn, *rest]):
            text = (Path(place) / q.table).read_text(encoding="utf-8")
            shown = markdown(read_values(text, q.table).tables[0])
            passages = given_passages([("", shown)])
            if at >= len(drawn):
                if len(shown) < 3000 and len(q.values) == 1 and q.values[0] in shown:
                    yield Asked(q.text, passages, q.values)
                continue
            layout = Layout(tokenizer, q.text, passages)
            for span, right in cells_near(q, shown, draw):
                choice = Choice("span", shown[slice(*span)], (("given 0", *span),))
                yield Row(*layout.of(choice), right)


def cells_near(
    asked: TableQuestion, shown: str, draw: random.Random
) -> list[tuple[tuple[int, int], bool]]:
    """Return cells of a table in Markdown to learn from, each with whether it is the answer.

    The answer is one where no row shares more words with the question than its own.
    """
    wanted = set(content_words(asked.text))
    answer = normal(asked.values[0]) if len(asked.values) == 1 else ""
    table = [row.cells for row in rows_of(shown)]
    rows = [[shown[a:b] for a, b in row] for row in table]
    words = [[wanted.intersection(content_words(text)) for text in row] for row in rows]

    def shared(row: int, but: int = -1) -> int:
        return len(set().union(*(held for at, held in enumerate(words[row]) if at != but)))

    order = sorted(draw.sample(range(len(rows)), len(rows)), key=shared, reverse=True)
    places = [(r, c) for r in order for c in range(len(rows[r]))]
    right = {(r, c) for r, c in places if normal(rows[r][c]) == answer != ""}
    best = max(sorted(right), key=lambda one: shared(*one), default=(0, 0))
    if right and shared(*best) >= max(1, *(shared(row, best[1]) for row in order)):
        row, column = best
        columns = [c for c in draw.sample(range(len(rows[row])), len(rows[row])) if c != column]
        below = [(other, column) for other in order if other != row]
        taken = [best, *((row, c) for c in columns[:2]), *below[:2]]
    else:
        others = [(r, c) for r, c in places[:30] if not words[r][c] and (r, c) not in right]
        taken = draw.sample(others, min(1, len(others)))
    return [(table[r][c], (r, c) in right) for r, c in taken if rows[r][c]]


def gather(
    given: Any, shipped: OfflineReader, base: OfflineReader
) -> tuple[list[Row], list[Asked]]:
    """Return the rows to learn from, and the questions that are kept for the confidence."""
    draw, other_draw = random.Random(given.seed), random.Random(given.seed)
    learned, kept = list[Row](), list[Asked]()
    for at, (made, e) in enumerate(examples(given, draw)):
        others, texts = list(e.others[:8]), list(e.passages)
        question, answers = e.question, [] if e.kind == "none" else [e.answer or e.kind]
        if is_held_out(e) or (e.group != "several" and zlib.crc32(question.encode()) % 10 == 0):
            texts += others[: other_draw.choice(BESIDE)]
            both = given_passages(other_draw.sample(texts, len(texts)))
            kept.append(Asked(question, both, tuple(answers)))
            continue
        if at % 500 == 0:
            common.say(f"{at} questions read, {len(learned)} answers")
        beside = draw.sample(others, min(len(others), draw.choice(BESIDE)))
        chance = draw.random()
        if chance < CHANGED and e.kind == "span":
            if altered := changed(question, [*texts, *beside], draw):
                question, answers = altered, []
        elif chance < CHANGED + ABSENT and others:
            texts = draw.sample(texts, len(texts) - 1)
            beside = beside or others[:1]
        texts = draw.sample([*texts, *beside], len(texts) + len(beside))
        learned += rows(base if made else shipped, question, answers, texts)
    for one in cells(given, shipped._network.tokenizer, draw):
        (learned if isinstance(one, Row) else kept).append(one)
    unseen = linked(common.read_lines(given.folder / "iirc/dev.jsonl.gz"))
    return learned, kept + [Asked(c.question, c.passages, tuple(c.answers)) for c in unseen]


def train(given: Any, learned: list[Row]) -> None:
    """Train on the rows, beginning with the layers of the reader, and write the folder."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits as loss_of

    torch.manual_seed(given.seed)
    network = TrainedNetwork(("right",))
    network.load(SHIPPED, heads=False)
    plan = batches(learned, BATCH, random.Random(given.seed))
    settings = {"lowest": LOWEST, "batch": BATCH, "rate": RATE, "seed": given.seed}
    folder = Folder(given.out, settings, overwrite=True)

    def loss(batch: Sequence[Row]) -> Any:
        return loss_of(network.judge(batch), torch.tensor([float(row.right) for row in batch]))

    with folder.saving():
        groups = trainable(network, RATE, LOWEST)
        fit(network, Fitting(network.body, groups, folder, given.seed), plan, loss)
        network.save_differences(given.out / VERIFIER_FILE)


def main() -> None:
    """Gather, train and write the folder."""
    base = "the reader of composed questions"
    given = common.training_options(__doc__, "trained/verifier", base)
    shipped, base = (OfflineReader(*read_network(place)) for place in (SHIPPED, given.base))
    learned, kept = gather(given, shipped, base)
    train(given, learned)
    network, card = read_network(SHIPPED)
    reader = OfflineReader(network, card, read_judge(given.out))
    some = random.Random(given.seed).sample(kept, min(KEPT, len(kept)))
    card["calibration"] = fit_calibration(reader, some) | {"stated": STATED}
    (given.out / CARD_FILE).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
