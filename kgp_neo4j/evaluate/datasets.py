"""Open the data sets of an evaluation: questions with their gold, and the corpus they are about."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.demo import SETTINGS, prepare
from kgp_neo4j.evaluate.scores import GoldQuestion, read_gold
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.settings import TraversalSettings, default_of

__all__ = ["DEMO", "Dataset", "open_dataset"]

#: The data set that comes along: 40 questions over the demo's documents.
DEMO = "demo"
_CORPUS_FILES = ("corpus.jsonl.gz", "corpus.jsonl")
_SPLITS = (".jsonl.gz", ".jsonl", ".json.gz", ".json")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions and the corpus that holds their passages; `prepare` loads and connects it under
    a name, by default `corpus`.

    `setting` says what the corpus is made of; `budget` is the default number of passages.
    """

    name: str
    questions: tuple[GoldQuestion, ...]
    corpus: str
    setting: str
    budget: int
    prepare: Callable[[Database, str], object]


def open_dataset(name: str, *, split: str, sample: int | None, seed: int) -> Dataset:
    """Open `demo`, a folder with a corpus and questions, or a published file of questions.

    A folder has `corpus.jsonl` and `SPLIT.jsonl`, both also as .gz: one large corpus for all
    questions. A file of HotpotQA, 2WikiMultihopQA or MuSiQue makes the corpus of the contexts of
    the questions that are drawn, as KGP's paper did. `sample` questions are drawn by `seed`.
    """
    if name == DEMO:
        file = Path(str(resources.files("kgp_neo4j.demo"))) / "questions.jsonl"
        drawn = _drawn(file, sample, seed)
        return Dataset(
            DEMO,
            tuple(gold for gold, _ in drawn),
            "evaluate-demo",
            "the demo's documents",
            SETTINGS.budget,
            prepare,
        )
    path = Path(name).expanduser()
    if path.is_dir():
        return _from_folder(path, split, sample, seed)
    if path.is_file():
        return _from_contexts(path, sample, seed)
    raise InputError(
        "there is no such data set",
        where=name,
        hint=f"Give {DEMO}, a folder with corpus.jsonl.gz and {split}.jsonl.gz, or a file.",
    )


def _from_folder(path: Path, split: str, sample: int | None, seed: int) -> Dataset:
    file = next((path / file for file in _CORPUS_FILES if (path / file).is_file()), None)
    asked = next(
        (path / f"{split}{end}" for end in _SPLITS if (path / f"{split}{end}").is_file()), None
    )
    if file is None or asked is None:
        lacking = "corpus.jsonl.gz" if file is None else f"{split}.jsonl.gz"
        raise InputError(
            f"the folder has no {lacking}",
            where=str(path),
            hint="Give a folder with a corpus and questions, or the file of questions itself.",
        )
    name = f"evaluate-{path.resolve().name}"
    drawn = _drawn(asked, sample, seed)
    return Dataset(
        f"{path.resolve().name} {split}",
        tuple(gold for gold, _ in drawn),
        name,
        "one corpus for all questions",
        default_of(TraversalSettings, "budget"),
        lambda database, corpus: _prepare(database, corpus, file),
    )


def _from_contexts(path: Path, sample: int | None, seed: int) -> Dataset:
    drawn = _drawn(path, sample, seed)
    stem = path.name.split(".")[0]
    name = f"evaluate-{stem}-{len(drawn)}-{seed}"
    records = [record for _, record in drawn]
    if not any(record.get("context") or record.get("paragraphs") for record in records):
        raise InputError(
            "the questions have no contexts to make a corpus of",
            where=str(path),
            hint="Give a folder with corpus.jsonl.gz beside the questions.",
        )

    def made(database: Database, corpus: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{stem}.jsonl"
            lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            file.write_text("".join(lines), encoding="utf-8")
            _prepare(database, corpus, file)

    return Dataset(
        stem,
        tuple(gold for gold, _ in drawn),
        name,
        "the contexts of these questions",
        default_of(TraversalSettings, "budget"),
        made,
    )


def _prepare(database: Database, corpus: str, file: Path) -> None:
    """Load the corpus, and connect it unless it is whole already."""
    account = load(database, [str(file)], corpus)
    found = database.read("inspect/corpus", corpus=corpus)[0]
    graphs = {"keywords", "entities", "similarity"}
    changed = account.new or account.replaced or found["unconnected"]
    if changed or not graphs <= set(found["connected"]):
        connect(database, corpus)


def _drawn(path: Path, sample: int | None, seed: int) -> list[tuple[GoldQuestion, dict[str, Any]]]:
    found = read_gold(path)
    if sample is None or sample >= len(found):
        return found
    kept = sorted(random.Random(seed).sample(range(len(found)), sample))
    return [found[at] for at in kept]
