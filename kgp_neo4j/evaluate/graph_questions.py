"""Read questions over a knowledge graph: dialogues, multiple choice, questions with entities.

The keys of a record show its form. Published outputs, a table with a column for each system, bring
the systems' answers with their questions.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import regex

from kgp_neo4j.environment.files import extension, opened, shown
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.mindmap.answer.ask_graph import as_question, is_of_asker
from kgp_neo4j.mindmap.load.graph_files import json_values
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import InputError

__all__ = [
    "GraphQuestion",
    "is_over_graph",
    "read_graph_questions",
    "read_published",
]

_TURNS = ("dialogue", "messages", "conversation", "turns")
#: Keys that only questions over a graph have.
_OWN_KEYS = frozenset((*_TURNS, "output", "options", "question_kg", "question_entities"))
_HINT = (
    'A record has "question" and "answer" ("options" and "explanation" with it) or '
    '"answer_entities", "input" and "output", or a list of turns with "role" and "content".'
)
_OPTION = regex.compile(r"^([A-Z])[:：](.*)$", regex.MULTILINE)
#: What the authors of published outputs counted a reply as.
_COUNTED = {"1": "right", "0": "wrong", "2": "failed"}


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """A question and its reference: an answer, a doctor's turns, or the explanation of a choice.

    `options` are those of a multiple choice question by label, and `choice` the right label.
    `entities` and `answers` are the entities that the data set lists for the question and for its
    answer; `kind` is the data set's own.
    """

    id: str
    text: str
    reference: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    choice: str = ""
    entities: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    kind: str = ""

    @property
    def question(self) -> Question:
        """Return the question as it is asked."""
        return Question(self.id, self.text)


def is_over_graph(path: Path) -> bool:
    """Return whether a file's first record has a form that only questions over a graph have."""
    if extension(path) == ".csv":
        return True
    if extension(path) not in (".json", ".jsonl"):
        return False
    with bar("questions", None) as progress, opened(path, progress) as file:
        value = next((record.value for record in json_values(file, path)), None)
    return isinstance(value, list) or (isinstance(value, dict) and bool(_OWN_KEYS & set(value)))


def read_graph_questions(path: Path) -> list[GraphQuestion]:
    """Return the questions of a `.json` or `.jsonl` file (also `.gz`), in their order.

    The forms are those of GenMedGPT-5k, CMCQA and ExplainCPE (MindMap, appendix A), and of
    PathQuestion. Of a dialogue the asker's turns are the question, the others the reference. A
    record without an id has its number. Raises InputError for a record of another form.
    """
    name = shown(path)
    if extension(path) not in (".json", ".jsonl"):
        raise InputError("not a file of questions", where=name, hint="Give .jsonl or .json.")
    questions: dict[str, GraphQuestion] = {}
    with bar("questions", None) as progress, opened(path, progress) as file:
        for number, (value, where) in enumerate(json_values(file, path), 1):
            if isinstance(value, InputError):
                raise value
            read = _read(value, str(number), where)
            if read.id in questions:
                raise InputError(f"the id {read.id!r} stands twice", where=where)
            questions[read.id] = read
    if not questions:
        raise InputError("the file holds no question", where=name, hint=_HINT)
    return list(questions.values())


def _read(record: Any, number: str, where: str) -> GraphQuestion:
    turns = record if isinstance(record, list) else None
    if isinstance(record, Mapping):
        number = str(record.get("id", record.get("_id", number)))
        turns = next((record[key] for key in _TURNS if key in record), None)
    if turns is not None:
        return _of_dialogue(turns, number, where)
    if isinstance(record, Mapping):
        question = record.get("question", record.get("input"))
        answers = _names(record.get("answer_entities"))
        answer = record.get("answer", record.get("output", "" if answers else None))
        options = _labelled(record.get("options") or {})
        if isinstance(question, str) and isinstance(answer, str) and options is not None:
            entities = _names(record.get("question_entities", record.get("question_kg")))
            if options:
                explained = str(record.get("explanation") or "")
                choice = answer.strip().upper()
                return GraphQuestion(number, question, explained, options, choice, entities)
            kind = f"{record['hops']} hops" if "hops" in record else ""
            return GraphQuestion(
                number, question, answer, entities=entities, answers=answers, kind=kind
            )
    raise InputError("not a question with its answer", where=where, hint=_HINT)


def _of_dialogue(turns: Any, number: str, where: str) -> GraphQuestion:
    asked: list[str] = []
    replies: list[str] = []
    for turn in turns if isinstance(turns, list) else [None]:
        if not isinstance(turn, Mapping) or not isinstance(turn.get("content"), str):
            raise InputError("a turn of the dialogue has no content", where=where, hint=_HINT)
        (asked if is_of_asker(turn) else replies).append(turn["content"])
    return GraphQuestion(number, as_question(asked), as_question(replies))


def _names(listed: Any) -> tuple[str, ...]:
    """Return the names of a list, or of a text with commas, each once."""
    names = listed.split(",") if isinstance(listed, str) else listed or ()
    return tuple(dict.fromkeys(name for each in names if (name := str(each).strip())))


def _labelled(options: Any) -> dict[str, str] | None:
    """Return options by label: a list gets A, B, C; None for anything else."""
    if isinstance(options, Mapping):
        return {str(label).upper(): str(text) for label, text in options.items()}
    if isinstance(options, list):
        return {chr(ord("A") + at): str(text) for at, text in enumerate(options)}
    return None


# --- Published outputs ---


def read_published(path: Path) -> tuple[list[GraphQuestion], dict[str, dict[str, dict[str, Any]]]]:
    """Return the questions of a table of published outputs, and the lines of each system's run.

    The table is a CSV file (also `.gz`) with the columns `question` and `label`, the reference, and
    of multiple choice questions `label_choice`, in any case; the options then stand in the question
    ("A: ..."). Every other column is a system. Where columns NAME_acc say what the authors counted
    (1 right, 0 wrong, 2 failed), only the first column of each NAME is one. Raises InputError for a
    table of another form.
    """
    csv.field_size_limit(sys.maxsize)
    with bar("outputs", None) as progress, opened(path, progress) as file:
        reader = csv.DictReader(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""))
        try:
            rows = list(reader)
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"no CSV in UTF-8 ({error})", where=shown(path)) from error
    columns = {str(name).lower(): str(name) for name in reader.fieldnames or ()}
    if not rows or not {"question", "label"} <= set(columns):
        raise InputError(
            "not a table of published outputs",
            where=shown(path),
            hint="It needs the columns question and label, and one for each system.",
        )
    questions: list[GraphQuestion] = []
    systems = _systems(columns)
    runs: dict[str, dict[str, dict[str, Any]]] = {system: {} for system in systems}
    for number, row in enumerate(rows, 1):
        cells = {name: str(row[column] or "").strip() for name, column in columns.items()}
        text, choice = str(row[columns["question"]] or ""), cells.get("label_choice", "")
        labelled = _OPTION.findall(text) if "label_choice" in columns else ()
        options = {label: option.strip() for label, option in labelled}
        questions.append(GraphQuestion(str(number), text, cells["label"], options, choice))
        for system, mark in systems.items():
            line = {"id": str(number), "answer": cells[system.lower()]}
            if mark:
                counted = cells[mark.lower()]
                if counted not in _COUNTED:
                    where = f"{shown(path)}, row {number}"
                    raise InputError(f"{mark} is {counted!r}", where=where, hint="Write 1, 0 or 2.")
                line["counted"] = _COUNTED[counted]
            runs[system][line["id"]] = line
    return questions, runs


def _systems(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the column of the authors' marks for each system's column, empty where none is."""
    marks = [name for name in columns if name.endswith("_acc")]
    outputs = [n for n in columns if n not in ("question", "label", "label_choice", *marks)]
    if not marks:
        return {columns[name]: "" for name in outputs}
    systems = {}
    for mark in marks:
        about = mark.removesuffix("_acc")
        # The whole name before a part of one: "kg" is in "kg retriever", and in "mindmap-kg" too.
        alike = sorted((n for n in outputs if about in n), key=lambda n: not n.startswith(about))
        if alike:
            systems[columns[alike[0]]] = columns[mark]
    return systems
