"""Read questions: files of HotpotQA, 2WikiMultihopQA, MuSiQue, or {id, question} lines."""

from __future__ import annotations

from pathlib import Path

from kgp_neo4j.environment.files import extension, opened, read_records, shown
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import InputError

__all__ = ["read_questions"]

_EXPECTED = 'Each line or array member needs "question" and an id ("id" or "_id").'


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file (`.jsonl`, or `.json` with one array; also `.gz`), in order.

    Raises InputError with file and line for a record that is no question, and for a repeated id.
    """
    name = shown(path)
    if extension(path) not in (".json", ".jsonl"):
        raise InputError("not a file of questions", where=name, hint="Give .jsonl or .json.")
    found: list[Question] = []
    seen: set[str] = set()
    with bar("questions", None) as progress, opened(path, progress) as file:
        for value, where in read_records(file, name):
            if isinstance(value, InputError):
                raise value
            if not isinstance(value, dict) or not isinstance(value.get("question"), str):
                raise InputError("not a question", where=where, hint=_EXPECTED)
            key = value.get("id", value.get("_id"))
            if key is None:
                raise InputError("the question has no id", where=where, hint=_EXPECTED)
            if str(key) in seen:
                raise InputError(f"the id {key!r} stands twice", where=where)
            seen.add(str(key))
            found.append(Question(str(key), value["question"]))
    if not found:
        raise InputError("the file holds no question", where=name, hint=_EXPECTED)
    return found
