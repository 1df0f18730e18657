"""Read questions over a knowledge graph: dialogues, multiple choice, questions with entities."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgp_neo4j.evaluate.questions import by_id
from kgp_neo4j.mindmap.answer.ask_graph import as_question, is_of_asker
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import InputError

_TURNS = ("dialogue", "messages", "conversation", "turns")
_HINT = (
    'A record has "question" and "answer" ("options" and "explanation" with it) or '
    '"answer_entities", "input" and "output", or a list of turns with "role" and "content".'
)


@dataclass(frozen=True, slots=True)
class GraphQuestion(Question):
    """A question and its reference: an answer, a doctor's turns, or the explanation of a choice.

    `options` are those of a multiple choice question by label, and `choice` the right label.
    `entities` and `answers` are the entities that the data set lists for the question and for its
    answer; `kind` is the data set's own.
    """

    reference: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    choice: str = ""
    entities: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    kind: str = ""

    @property
    def as_asked(self) -> str:
        """Return the question as a language model is asked it, with its options."""
        if not self.options:
            return self.text
        options = [f"{label}: {plain(text)}" for label, text in self.options.items()]
        return "\n".join((self.text, *options, "Begin with the letter of the one best option."))


def read_graph_questions(path: Path) -> list[GraphQuestion]:
    """Return the questions of a `.json` or `.jsonl` file (also `.gz`), in their order.

    The forms, told by a record's keys, are those of GenMedGPT-5k, CMCQA and ExplainCPE (MindMap,
    appendix A), and of PathQuestion. Of a dialogue the asker's turns are the question, the others
    the reference. A record without an id has its number. Raises InputError for another form.
    """
    return by_id(path, lambda *record: [_read(*record)], _HINT, object)


def _read(record: Any, where: str, at: int) -> GraphQuestion:
    if isinstance(record, list):
        record = {"turns": record}
    keys: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
    number = str(keys.get("id", keys.get("_id", at)))
    turns = next((keys[key] for key in _TURNS if key in keys), None)
    if turns is not None:
        return _of_dialogue(turns, number, where)
    question = keys.get("question", keys.get("input"))
    answers = _names(keys.get("answer_entities"))
    answer = keys.get("answer", keys.get("output", "" if answers else None))
    options = _labelled(keys.get("options") or {})
    if not isinstance(question, str) or not isinstance(answer, str) or options is None:
        raise InputError("not a question with its answer", where=where, hint=_HINT)
    entities = _names(keys.get("question_entities", keys.get("question_kg")))
    if options:
        explained, choice = str(keys.get("explanation") or ""), answer.strip().upper()
        return GraphQuestion(number, question, explained, options, choice, entities)
    kind = f"{keys['hops']} hops" if "hops" in keys else ""
    return GraphQuestion(number, question, answer, entities=entities, answers=answers, kind=kind)


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


def read_choice(reply: str, options: Mapping[str, str]) -> str:
    """Return the label that a reply sets apart, or that of the option it names; empty for none."""
    labels = "|".join(map(re.escape, options))
    first = re.search(rf"(?<![A-Za-z0-9])({labels})(?=\s*(?:[.:),;：，、。]|$))", reply)
    if first:
        return first[1]
    named = [label for label, text in options.items() if text in reply]
    return named[0] if len(named) == 1 else ""
