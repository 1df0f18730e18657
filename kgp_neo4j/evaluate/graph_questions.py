"""Reads questions over a knowledge graph: dialogues, multiple choice, questions with answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.files import extension, opened, shown
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.mindmap.answer.ask_graph import as_question, is_of_asker
from kgp_neo4j.mindmap.load.triple_files import json_values
from kgp_neo4j.types.errors import InputError

__all__ = ["GraphQuestion", "read_graph_questions"]

_TURNS = ("dialogue", "messages", "conversation", "turns")
_HINT = (
    'A record has "question" and "answer" ("options" and "explanation" with it), "input" and '
    '"output", or a list of turns with "role" and "content".'
)


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """A question and its reference: an answer, a doctor's turns, or the explanation of a choice.

    `options` are those of a multiple choice question by label, and `choice` the right label.
    """

    question: str
    reference: str
    options: Mapping[str, str] = field(default_factory=dict)
    choice: str = ""


def read_graph_questions(path: Path, most: int | None = None) -> list[GraphQuestion]:
    """Return the questions of a `.json` or `.jsonl` file (also `.gz`), in their order.

    The forms are those of GenMedGPT-5k, CMCQA and ExplainCPE (MindMap, appendix A). Of a dialogue
    the asker's turns are the question, the others the reference. Raises InputError for a record
    of another form.
    """
    name = shown(path)
    if extension(path) not in (".json", ".jsonl"):
        raise InputError("not a file of questions", where=name, hint="Give .jsonl or .json.")
    made = []
    with bar("questions", None) as progress, opened(path, progress) as file:
        for value, where in islice(json_values(file, path), most):
            if isinstance(value, InputError):
                raise value
            made.append(_read(value, where))
    return made


def _read(record: Any, where: str) -> GraphQuestion:
    turns = record if isinstance(record, list) else None
    if isinstance(record, Mapping):
        turns = next((record[key] for key in _TURNS if key in record), None)
    if turns is not None:
        return _of_dialogue(turns, where)
    if isinstance(record, Mapping):
        question = record.get("question", record.get("input"))
        answer = record.get("answer", record.get("output"))
        options = _labelled(record.get("options") or {})
        if isinstance(question, str) and isinstance(answer, str) and options is not None:
            if not options:
                return GraphQuestion(question, answer)
            explained = str(record.get("explanation") or "")
            return GraphQuestion(question, explained, options, answer.strip().upper())
    raise InputError("not a question with its answer", where=where, hint=_HINT)


def _of_dialogue(turns: Any, where: str) -> GraphQuestion:
    asked: list[str] = []
    said: list[str] = []
    for turn in turns if isinstance(turns, list) else [None]:
        if not isinstance(turn, Mapping) or not isinstance(turn.get("content"), str):
            raise InputError("a turn of the dialogue has no content", where=where, hint=_HINT)
        (asked if is_of_asker(turn) else said).append(turn["content"])
    return GraphQuestion(as_question(asked), as_question(said))


def _labelled(options: Any) -> dict[str, str] | None:
    """Return options by label: a list gets A, B, C; None for anything else."""
    if isinstance(options, Mapping):
        return {str(label).upper(): str(text) for label, text in options.items()}
    if isinstance(options, list):
        return {chr(ord("A") + at): str(text) for at, text in enumerate(options)}
    return None
