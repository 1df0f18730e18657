"""Loads killed at random points end in the graph of an undisturbed load."""

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from commands import begin, environment
from graphs import broken_documents, rows, snapshot

from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database

_KILLS = 8
_RECORDS, _FILES = 1_400, 8


def _write(folder: Path, version: str) -> set[str]:
    """Write a version of the corpus; return the hashes of its documents."""
    made = random.Random(version)
    words = [f"word{n}" for n in range(500)]

    def text(sentences: int) -> str:
        return "".join(
            " ".join(made.choices(words, k=12)).capitalize() + f" {version}. "
            for _ in range(sentences)
        )

    records = [{"title": f"Record {n}", "text": text(3)} for n in range(_RECORDS)]
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, records)))
    texts = [record["text"] for record in records]
    for n in range(_FILES):
        texts.append(text(700))
        (folder / f"{n}.txt").write_text(texts[-1])
    return {text_hash(t) for t in texts}


def _broken(database: Database, corpus: str) -> list[dict[str, Any]]:
    """Return the broken documents, once the server has ended what a killed client began."""
    # Neo4j reads what is committed row by row, so that a reader may meet a commit halfway.
    for _ in range(60):
        if not (broken := broken_documents(database, corpus)):
            break
        time.sleep(0.5)
    return broken


@pytest.mark.slow
def test_kills_at_any_moment(database: Database, corpus: str, tmp_path: Path) -> None:
    made = random.Random(20261121)
    undisturbed = f"{corpus} undisturbed"
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    # Both versions lie at one path in turn, so that every load has documents to replace.
    versions = [_write(folder, folder.name) for folder in folders]
    turn = 0
    source = tmp_path / "corpus"
    source.mkdir()

    loads, server = ("load", str(source), "--corpus", corpus), environment(database.connection)

    def finish() -> float:
        began = time.monotonic()
        process = begin(*loads, **server)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        return time.monotonic() - began

    def lay_out(turn: int) -> None:
        for file in folders[turn].iterdir():
            (source / file.name).write_bytes(file.read_bytes())

    lay_out(0)
    finish()
    lay_out(1)
    whole, idle = finish(), finish()
    kills, partial, states = 0, 0, set()
    lay_out(0)
    # A machine that is busier or idler now than it was: kills that meet no write come later.
    stretch = 1.0
    while kills < _KILLS or (partial < 3 and kills < 5 * _KILLS):
        process = begin(*loads, **server)
        # Any moment from before the first write to after the last.
        time.sleep(made.uniform(0.5 * idle, whole) * stretch)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert _broken(database, corpus) == []
        stored = rows(database, "MATCH (d:Document {corpus: $c}) RETURN d.sha256 AS sum", c=corpus)
        done = sum(row["sum"] in versions[turn] for row in stored)
        if process.returncode == -signal.SIGKILL:
            kills += 1
            partial += 0 < done < len(versions[turn])
            states.add((turn, done))
        stretch *= 1.25 if done == 0 else 0.8 if done == len(versions[turn]) else 1.0
        if done == len(versions[turn]):
            turn = 1 - turn
            lay_out(turn)
    finish()
    assert partial >= 3, f"the kills do not spread over the work: {sorted(states)}"
    try:
        account = load(database, [source], undisturbed)
        assert account.new == _RECORDS + _FILES
        assert snapshot(database, corpus) == snapshot(database, undisturbed)
    finally:
        delete_corpus(database, undisturbed)
