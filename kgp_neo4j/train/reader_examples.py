"""Reads what the offline reader is trained on: questions with passages and where the answer stands.

Known are the training files of HotpotQA, 2WikiMultihopQA and MuSiQue (`examples.py`), lines with a
"context" and its "qas" (SQuAD's form, one context a line), and lines with a "passage" and a true or
false "answer" (BoolQ's form).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.errors import InputError
from kgp_neo4j.load.files import extension, opened, shown
from kgp_neo4j.load.ids import is_storable
from kgp_neo4j.load.json_files import read_lines
from kgp_neo4j.progress import bar
from kgp_neo4j.train.examples import TrainingQuestion, read_training_questions

__all__ = ["ReadingExample", "occurrences", "read_reading_examples"]

_EXPECTED = (
    "Expected are the training files of HotpotQA, 2WikiMultihopQA or MuSiQue, lines with "
    '"context" and "qas", or lines with "passage", "question" and a true or false "answer".'
)
#: Characters of a passage kept on each side of an answer whose place is told.
_AROUND = 180


@dataclass(frozen=True, slots=True)
class ReadingExample:
    """A question, the passages (title, text) that answer it, others beside them, and the answer.

    `kind` is `span`, `yes`, `no` or `none`. A span stands at `places`: (passage, in the title,
    start, end), every one of them right. `group` says which kind of data it comes from: `several`
    passages to be read together, or one.
    """

    question: str
    passages: tuple[tuple[str, str], ...]
    kind: str
    places: tuple[tuple[int, bool, int, int], ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    group: str = "several"
    answer: str = ""


def read_reading_examples(paths: Sequence[str | Path]) -> list[ReadingExample]:
    """Return the examples of some files, in their order.

    Questions whose answer stands in none of their passages are left out. Raises InputError with
    file and line for what is of no known form.
    """
    made: list[ReadingExample] = []
    for path in map(Path, paths):
        first = _first(path)
        if "qas" in first or "passage" in first:
            made += _single(path)
        else:
            made += _several(path)
    return made


def occurrences(text: str, answer: str) -> list[tuple[int, int]]:
    """Return where an answer stands in a text as whole words, in whatever case."""
    wanted = answer.strip()
    if not wanted:
        return []
    pattern = r"\s+".join(map(re.escape, wanted.split()))
    return [found.span() for found in re.finditer(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE)]


def _first(path: Path) -> Mapping[str, Any]:
    name = shown(path)
    if extension(path) not in (".json", ".jsonl"):
        raise InputError("not a file of questions", where=name, hint="Give .jsonl or .json.")
    if extension(path) == ".jsonl":
        for value, _ in _lines(path):
            return value
        raise InputError("the file holds no question", where=name, hint=_EXPECTED)
    return {}


def _lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    name = shown(path)
    with bar("questions", None) as progress, opened(path, progress) as file:
        for value, where in read_lines(file, name):
            if isinstance(value, InputError):
                raise value
            if not isinstance(value, dict):
                raise InputError("not a question", where=where, hint=_EXPECTED)
            yield value, where


# --- One passage a question -----------------------------------------------------------------------


def _single(path: Path) -> Iterator[ReadingExample]:
    for value, where in _lines(path):
        try:
            found = list(_boolean(value) if "passage" in value else _spans(value))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a question ({error!r})", where=where, hint=_EXPECTED) from error
        for example in found:
            if not is_storable("".join([example.question, *sum(example.passages, ())])):
                raise InputError(
                    "a text holds half a surrogate pair", where=where, hint="Mend the escape."
                )
            yield example


def _boolean(value: Mapping[str, Any]) -> Iterator[ReadingExample]:
    answer, title = value["answer"], value.get("title") or ""
    if not isinstance(answer, bool):
        raise ValueError('"answer" is neither true nor false')
    asked = str(value["question"]).strip()
    asked = f"{asked[:1].upper()}{asked[1:]}{'' if asked.endswith('?') else '?'}"
    kind = "yes" if answer else "no"
    yield ReadingExample(asked, ((str(title), str(value["passage"])),), kind, group="yes or no")


def _spans(value: Mapping[str, Any]) -> Iterator[ReadingExample]:
    text, title = str(value["context"]), str(value.get("title") or "").replace("_", " ")
    for asked in value["qas"]:
        places = sorted({(int(at), int(at) + len(said)) for said, at in asked["answers"]})
        if any(not 0 <= start < end <= len(text) for start, end in places):
            raise ValueError("an answer stands outside of its context")
        if not places:
            yield ReadingExample(asked["question"], ((title, text),), "none", group="one")
            continue
        # Of answers told by several people the shortest; the part of the text around it.
        start, end = min(places, key=lambda place: place[1] - place[0])
        low = text.rfind(". ", 0, max(start - _AROUND, 0)) + 2 if start > _AROUND else 0
        low = 0 if low == 1 else low
        high = text.find(". ", end + _AROUND)
        part = text[low : high + 1 if high > 0 else None]
        yield ReadingExample(
            asked["question"],
            ((title, part),),
            "span",
            ((0, False, start - low, end - low),),
            group="one",
            answer=text[start:end],
        )


# --- Several passages a question ------------------------------------------------------------------


def _several(path: Path) -> Iterator[ReadingExample]:
    for question in read_training_questions([path]):
        if made := _together(question):
            yield made
    if extension(path) == ".jsonl":
        for value, _ in _lines(path):
            yield from _steps(value)


def _together(question: TrainingQuestion) -> ReadingExample | None:
    """Return a question over its supporting passages; None where the answer is not in them."""
    passages = tuple((fact.title, fact.passage_text) for fact in question.facts)
    kind = question.answer.strip().lower()
    if kind in ("yes", "no"):
        return ReadingExample(
            question.question, passages, kind, (), question.distractors, "several", kind
        )
    places = _places(passages, question.answer)
    if not places:
        return None
    # The end of the reasoning holds the answer; what stands before it has it by chance.
    last = max(place[0] for place in places)
    if len(question.starts) == 1:
        places = tuple(place for place in places if place[0] == last)
    return ReadingExample(
        question.question, passages, "span", places, question.distractors, "several",
        question.answer,
    )  # fmt: skip


def _places(
    passages: Sequence[tuple[str, str]], answer: str
) -> tuple[tuple[int, bool, int, int], ...]:
    return tuple(
        (at, in_title, start, end)
        for at, (title, text) in enumerate(passages)
        for in_title, part in ((True, title), (False, text))
        for start, end in occurrences(part, answer)
    )


def _steps(value: Mapping[str, Any]) -> Iterator[ReadingExample]:
    """Yield the single steps that 2WikiMultihopQA and MuSiQue tell, each over its one passage."""
    for asked, answer, title, text in (*_triples(value), *_decomposed(value)):
        places = _places(((title, text),), answer)
        if places:
            passages = ((title, text),)
            yield ReadingExample(asked, passages, "span", places, (), "one", answer)


def _triples(value: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    context = value.get("context")
    if not isinstance(value.get("evidences"), list) or not isinstance(context, list):
        return
    texts = {title: " ".join("".join(said).split()) for title, said in context}
    for subject, relation, thing in value["evidences"]:
        if subject in texts:
            yield f"What is the {relation} of {subject}?", thing, subject, texts[subject]


def _decomposed(value: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    steps = value.get("question_decomposition")
    if not isinstance(steps, list):
        return
    numbered = {p.get("idx", at): p for at, p in enumerate(value.get("paragraphs", ()))}
    for step in steps:
        said = numbered.get(step.get("paragraph_support_idx"))
        if said is None:
            continue
        asked = re.sub(
            r"#(\d)", lambda m: str(steps[int(m[1]) - 1]["answer"]), str(step["question"])
        )
        subject, known, relation = asked.partition(" >> ")
        if known:
            asked = f"What is the {relation} of {subject}?"
        yield asked, str(step["answer"]), said["title"], said["paragraph_text"]
