"""Read questions: published files with their gold and contexts, or {id, question} lines.

A question's gold are its true answers and its supporting facts; its contexts are the documents that
it is asked over. The keys of a record show which data set it is from.
"""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from kgp_neo4j.corpus.load.records import documents_of_records
from kgp_neo4j.environment.files import Value, opened, read_question_records, shown
from kgp_neo4j.environment.job import bar
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import InputError

_EXPECTED = 'Each line or array member needs "question" and an id ("id" or "_id").'
_FORM = (
    "Give a file of HotpotQA, 2WikiMultihopQA, MuSiQue, IIRC, MultiHop-RAG or PDFTriage, or lines "
    "in one of their forms."
)
#: The file of linked articles, {title: HTML}, that IIRC has beside its questions.
_ARTICLES = "context_articles.json"


class Fact(NamedTuple):
    """A supporting fact: a title and, where that does not do, a passage's text or `part` of it."""

    title: str
    text: str | None = None
    part: bool = False

    def is_in(self, title: str, text: str) -> bool:
        """Return whether a passage is the one that the fact names."""
        if self.title != title or self.text is None:
            return self.title == title
        if not self.part:
            return self.text == text.strip()
        # Half a sentence does: the border of two passages may cut it.
        sentence, held = (" ".join(each.split()) for each in (self.text, text))
        half = len(sentence) // 2
        return sentence[:half] in held or sentence[half:] in held


@dataclass(frozen=True, slots=True)
class GoldQuestion(Question):
    """A question with its true answers and supporting facts.

    With no answers, saying nothing is right; where they are None, nobody has written them down.
    `values` are those that a question about pages and tables asks for, none of them where what it
    asks about does not exist. `kind` is the data set's own. Where the data set gives them, it is
    asked over `contexts`, each a title and a text, or over the file named `document` (PDFTriage).
    """

    answers: tuple[str, ...] | None
    facts: tuple[Fact, ...]
    kind: str = ""
    values: tuple[str, ...] | None = None
    contexts: tuple[tuple[str, str], ...] = ()
    document: str = ""


_Question = TypeVar("_Question", bound=Question)


def draw(questions: Sequence[_Question], sample: int | None, seed: int) -> list[_Question]:
    """Return `sample` questions in their order, the same ones for the same seed; None is all."""
    if sample is None or sample >= len(questions):
        return list(questions)
    places = sorted(random.Random(seed).sample(range(len(questions)), sample))
    return [questions[at] for at in places]


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file (`.jsonl`, `.json` with one array; also `.gz`), in order."""

    def question(record: dict[str, Any], where: str) -> Question:
        if not isinstance(record.get("question"), str):
            raise InputError("not a question", where=where, hint=_EXPECTED)
        return Question(_id_of(record, where, _EXPECTED), record["question"])

    return by_id(path, lambda record, where, _: [question(record, where)], _EXPECTED)


def read_gold(path: Path) -> list[GoldQuestion]:
    """Return the questions of a published file with their gold and contexts, in order."""
    articles = cache(lambda: _articles(path))

    def questions(record: dict[str, Any], where: str, number: int) -> list[GoldQuestion]:
        try:
            return _questions(record, where, number, articles)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise InputError("the question is not as published", where=where, hint=_FORM) from error

    return by_id(path, questions, _FORM)


def by_id(
    path: Path, read: Callable[[Any, str, int], Iterable[_Question]], hint: str, kind: type = dict
) -> list[_Question]:
    """Return what `read` makes of records; raises InputError for no question, or an id twice."""
    questions: dict[str, _Question] = {}
    for number, (record, where) in enumerate(read_question_records(path, hint, kind), 1):
        for question in read(record, where, number):
            if question.id in questions:
                raise InputError(f"the id {question.id!r} stands twice", where=where)
            questions[question.id] = question
    return list(questions.values())


def _id_of(record: Mapping[str, Any], where: str, hint: str) -> str:
    key = record.get("_id", record.get("id"))
    if key is None:
        raise InputError("the question has no id", where=where, hint=hint)
    return str(key)


def _questions(
    record: dict[str, Any], where: str, number: int, articles: Callable[[], Mapping[str, str]]
) -> list[GoldQuestion]:
    """Return the questions of a record; `number` names one that has no id."""
    if isinstance(record.get("questions"), list):
        return _nested(record, articles())
    if isinstance(record.get("query"), str) and "evidence_list" in record:
        # MultiHop-RAG; a question without evidence cannot be answered.
        facts = tuple(Fact(e["title"], e["fact"], part=True) for e in record["evidence_list"])
        answers = (str(record["answer"]),) if facts else ()
        kind = str(record.get("question_type", ""))
        return [GoldQuestion(str(number), record["query"], answers, facts, kind)]
    if isinstance(record.get("text"), str) and "pdf_url" in record:
        # PDFTriage, or its form with the values that are asked for.
        given = record.get("values")
        values = None if given is None else tuple(map(str, given))
        asked, document = (str(record["id"]), record["text"]), PurePosixPath(record["pdf_url"]).name
        return [GoldQuestion(*asked, None, (), record["category"], values, document=document)]
    if not isinstance(record.get("question"), str):
        raise InputError("not a question", where=where, hint=_FORM)
    return [_with_facts(record, where)]


def _with_facts(record: dict[str, Any], where: str) -> GoldQuestion:
    """Read a question of HotpotQA, 2WikiMultihopQA or MuSiQue."""
    key = _id_of(record, where, _FORM)
    told = record.get("supporting_facts")
    if "paragraphs" in record:
        needed = [p for p in record["paragraphs"] if p["is_supporting"]]
        facts = [Fact(str(p["title"]), str(p["paragraph_text"]).strip()) for p in needed]
    elif told is None:
        raise InputError("the question names no supporting facts", where=where, hint=_FORM)
    else:  # copies on Hugging Face have columns in the place of pairs
        titles = told["title"] if isinstance(told, dict) else [title for title, _ in told]
        facts = [Fact(title) for title in sorted(set(map(str, titles)))]
    given = record.get("answer")
    answers = (given or "", *(record.get("answer_aliases") or ()))
    contexts = []
    if record.get("context") or record.get("paragraphs"):
        for document in documents_of_records(Path(where), [Value(record, where)]):
            if isinstance(document, InputError):
                raise document
            contexts.append((document.title, document.text))
    true = None if given is None else tuple(str(answer) for answer in answers if answer)
    about = tuple(facts), str(record.get("type", ""))
    return GoldQuestion(key, record["question"], true, *about, contexts=tuple(contexts))


def _articles(path: Path) -> dict[str, str]:
    """Return the HTML of the articles beside a file of questions, by title in lower case."""
    file = path.with_name(_ARTICLES)
    if not file.is_file():
        problem = "the articles that the passages link to are not there"
        raise InputError(problem, where=shown(file), hint=f"Put {_ARTICLES} beside the questions.")
    with bar("articles", None) as progress, opened(file, progress) as opened_file:
        try:
            articles = json.load(opened_file)
        except ValueError as error:
            raise InputError(f"not JSON ({error})", where=shown(file)) from error
    return {str(title).lower(): html for title, html in articles.items()}


def _nested(record: dict[str, Any], articles: Mapping[str, str]) -> list[GoldQuestion]:
    """Read IIRC's questions, nested in their passage; linked articles lie in another file."""
    from kgp_neo4j.corpus.load.html import read_page

    title = record["title"]
    contexts = [(title, record["text"])]
    for target in dict.fromkeys(link["target"].lower() for link in record["links"]):
        if article := articles.get(target):
            contexts.append((target, read_page(article, target).text))
    questions = []
    for question in record["questions"]:
        facts = [
            Fact(title if c["passage"] == "main" else c["passage"].lower(), c["text"], part=True)
            for c in question["context"]
        ]
        answer = question["answer"]
        spans = [span["text"] for span in answer.get("answer_spans") or ()]
        value, unit = (str(answer.get(f"answer_{key}") or "") for key in ("value", "unit"))
        # The spans together, the value with and without its unit.
        forms = dict.fromkeys((", ".join(spans), f"{value} {unit}".strip(), value))
        asked = str(question["qid"]), question["question"], tuple(filter(None, forms))
        about = tuple(facts), answer["type"]
        questions.append(GoldQuestion(*asked, *about, contexts=tuple(contexts)))
    return questions
