"""Run a retrieval method over many questions and write one line for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kgp_neo4j.corpus.pipeline import Retriever
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import InputError

__all__ = ["run_questions"]


def run_questions(retriever: Retriever, questions: Sequence[Question], out: Path) -> list[float]:
    """Retrieve for every question, write a JSON line each, and return the seconds of each.

    A line is {"id", "retrieved": [{"title", "text", "score"}, ...], "seconds"}, best passage first.
    The file is written whole at the end. Raises InputError where it cannot be written.
    """
    seconds: list[float] = []
    part = out.with_name(out.name + ".part")
    try:
        with part.open("w", encoding="utf-8") as file, bar("retrieve", len(questions)) as progress:
            for question in questions:
                found = retriever.retrieve(question)
                seconds.append(found.seconds)
                row = {
                    "id": question.id,
                    "retrieved": [
                        {"title": p.title, "text": p.text, "score": round(p.score, 6)}
                        for p in found.passages
                    ],
                    "seconds": round(found.seconds, 6),
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                progress.update()
        part.replace(out)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", where=str(out), hint="Choose another --out."
        ) from error
    return seconds
