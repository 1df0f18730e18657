"""Measure answers: exact match and F1, and the run lines that scorers read.

The baselines of KGP's Table 1 share one prompt: `golden` has the passages with the supporting
facts, `none` the question alone, and every retriever the passages that it found.
"""

from __future__ import annotations

import json
import re
import string
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.answer.model import answer_with_model
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.llm.call import MeteredModel
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.corpus import Passage, Question, Statement
from kgp_neo4j.types.language import LanguageModel

__all__ = [
    "answer_questions",
    "exact_match",
    "f1",
    "from_passages",
    "normalised",
    "short_answer",
    "structural_match",
]

#: From a question to a line of the run without its id.
Answering = Callable[[Question], dict[str, Any]]
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
#: Answers that get no F1 for shared words.
_WHOLE = frozenset(("yes", "no", "noanswer"))
_SIGNS = re.compile(r"[^\W_]+")
#: Words from which on a value is a page's text, and the share of them that must be there.
_TEXT_WORDS, _TEXT_SHARE = 50, 0.95


# --- Scores ---


def normalised(text: str) -> str:
    """Return an answer in the form that is compared: lower case, no punctuation, no articles
    (SQuAD).
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, truths: Iterable[str]) -> float:
    """Return 1 where an answer equals one of the true ones, else 0."""
    said = normalised(answer)
    return float(any(said == normalised(truth) for truth in truths))


def f1(answer: str, truths: Iterable[str]) -> float:
    """Return the best F1 of an answer's words with those of a true one, from 0 to 1."""
    return max((_f1(normalised(answer), normalised(truth)) for truth in truths), default=0.0)


def _f1(said: str, truth: str) -> float:
    if said != truth and {said, truth} & _WHOLE:
        return 0.0
    given, wanted = said.split(), truth.split()
    if not given or not wanted:
        return float(given == wanted)
    same = sum((Counter(given) & Counter(wanted)).values())
    return 2 * same / (len(given) + len(wanted))


def structural_match(wanted: Sequence[str], row: Mapping[str, Any]) -> float:
    """Return 1 where a line of a run has the values asked for, in any order, and no others, else 0.

    This is Struct-EM (KGP, Table 1). Letters and digits are compared, without case. The values are
    `values`, else the answer, whole or between commas. With none wanted, what is asked about does
    not exist, and a line is right that says so by `found` false. Of a page's text, 95 % of the
    words in letters must be there.
    """
    said = str(row.get("answer") or "")
    given = row.get("values")
    if not wanted:
        return float(bool(said) and row.get("found") is False)
    words = Counter(filter(str.isalpha, wanted[0].casefold().split()) if len(wanted) == 1 else ())
    if words.total() > _TEXT_WORDS:
        held = words & Counter(said.casefold().split())
        return float(held.total() >= _TEXT_SHARE * words.total())
    expected = sorted(filter(None, map(_squeezed, wanted)))
    readings = [[str(value) for value in given]] if given else [[said], said.split(",")]
    found = [sorted(filter(None, map(_squeezed, values))) for values in readings]
    # A line of a page may be one value or several.
    joined = len(expected) == 1 and any(
        "".join(map(_squeezed, values)) == expected[0] for values in readings
    )
    return float(joined or expected in found)


def _squeezed(text: str) -> str:
    return "".join(_SIGNS.findall(text.casefold()))


def short_answer(statements: Sequence[Statement]) -> str:
    """Return the short answer among a model's statements, without citations and marks.

    Support by the passages does not matter: the score is of the model's answer.
    """
    return statements[0].text if statements else ""


# --- Answerers ---


def from_passages(
    passages: Callable[[Question], Sequence[Passage]],
    model: LanguageModel,
    encoder: Encoder | None = None,
) -> Answering:
    """Return a function that answers from given passages by a model; no passages for `none`."""

    metered = MeteredModel(model)

    def answer(question: Question) -> dict[str, Any]:
        given = passages(question)
        made = answer_with_model(question.text, given, metered, encoder=encoder)
        return _line(given, short_answer(made.statements), made.statements, metered, made.notes)

    return answer


def _line(
    passages: Sequence[Passage],
    said: str,
    statements: Sequence[Statement],
    metered: MeteredModel,
    notes: Sequence[str],
) -> dict[str, Any]:
    usage = metered.take_usage()
    return {
        "answer": said,
        "retrieved": [{"title": p.title, "text": p.text} for p in passages],
        "carried": [statement.carried for statement in statements],
        "calls": usage.calls,
        "tokens": [usage.prompt_tokens, usage.reply_tokens],
        "notes": list(notes),
    }


# --- Runs ---


def answer_questions(
    questions: Sequence[Question], answering: Answering, out: Path, *, resume: bool = False
) -> list[dict[str, Any]]:
    """Answer every question and write its line at once: id, answer, retrieved, seconds.

    With `resume`, questions with a complete line in `out` are skipped. Every question has a line:
    the first failure stops the run, and the lines so far stay.
    """
    done = dict(_written(out)) if resume else {}
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file, bar("answering", len(questions)) as shown:
        for line in done.values():
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        for question in questions:
            if question.id not in done:
                began = time.perf_counter()
                made = answering(question)
                seconds = round(time.perf_counter() - began, 6)
                done[question.id] = {"id": question.id, **made, "seconds": seconds}
                file.write(json.dumps(done[question.id], ensure_ascii=False) + "\n")
                file.flush()
            shown.update()
    return [done[question.id] for question in questions]


def _written(out: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if not out.is_file():
        return
    for line in out.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # the line was cut short
        if isinstance(row, dict) and "id" in row:
            yield str(row["id"]), row
