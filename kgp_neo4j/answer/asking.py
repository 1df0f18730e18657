"""From a question to an answer that can be checked."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Protocol

from kgp_neo4j.answer.browser import browser_link
from kgp_neo4j.answer.explanation.queries import queries_of, shown_passages
from kgp_neo4j.answer.ircot import counting
from kgp_neo4j.answer.prompting import FORMS, answer_with_model, marked
from kgp_neo4j.answer.support import (
    asks_for_an_account,
    holding_sentence,
    supporting_sentences,
)
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError, no_corpus
from kgp_neo4j.language import LanguageModel
from kgp_neo4j.load.ids import is_storable
from kgp_neo4j.models import Encoder
from kgp_neo4j.models.language import Metered, writer
from kgp_neo4j.records import Answer, Question, Retrieval
from kgp_neo4j.structure import answer_structural, decide, decide_with_model
from kgp_neo4j.structures import StructuralAnswer, TypeDecision
from kgp_neo4j.traverse import TraversalSettings

__all__ = ["TYPES", "Retrieves", "answered_by", "ask", "from_retrieval"]

#: What a question can be about; `model` lets the language model decide. `--type` takes these.
TYPES = ("structural", "content", "both", "model")


class Named(Protocol):
    """Whoever has a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


class Retrieves(Protocol):
    """What finds the passages for a question: a `Retriever`, or `Ircot`."""

    corpus: str
    method: str
    settings: TraversalSettings
    encoder: Encoder | None

    @property
    def agent(self) -> Named:
        """Who chooses the evidence."""
        ...

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages for a question, best first, and the paths that led to them."""
        ...


def ask(
    database: Database,
    corpus: str,
    question: str,
    retriever: Callable[[], Retrieves],
    *,
    type_: str | None = None,
    model: LanguageModel | None = None,
    form: str = "short",
    on_text: Callable[[str], None] | None = None,
    reader: str | None = None,
) -> Answer:
    """Answer a question over a corpus, from its pages and tables or from its passages.

    A structural question (KGP, section on structural questions) is answered by queries over pages
    and tables, with citations down to the cell; one about content from the passages that
    `retriever` finds, which is called for such questions alone, since it may load an encoder.
    `type_` overrides the decision which of them it is. The offline reader answers, or `model`, a
    language model that is asked once; its sentences are checked, and where it gives no answer the
    reader does. `form` is `short` or `long`; `on_text` is given the model's reply, unchecked, while
    it is written; `reader` is the folder of an offline reader of one's own. The text is empty when
    nothing in the evidence answers. `seconds` covers everything from the question on but loading a
    model. Raises ConfigurationError for an empty question, and ModelError where the model cannot be
    used at all.
    """
    _check(question, type_, form)
    metered = None if model is None else Metered(model)
    began = time.perf_counter()
    if type_ is not None and {"name": corpus} not in database.read("inspect/corpus_names"):
        raise no_corpus(corpus)
    write = None if metered is None else writer(metered)
    decision = _decided(database, corpus, question, type_, write)
    structural = None
    if decision.type != "content":
        structural = answer_structural(database, corpus, question, write)
    spent = time.perf_counter() - began
    if structural is not None and decision.type == "structural":
        made = _from_structure(database, corpus, question, decision, structural)
    else:
        said = structural is not None and structural.sure and structural.found
        found = retriever()
        if model is not None and metered is not None:
            found = counting(found, model, metered)
        made = from_retrieval(
            found,
            found_for(found, question),
            # What pages and tables answer surely, the model need not be asked again.
            model=None if said else metered,
            form=form,
            on_text=on_text,
            reader=reader,
        )
        link = browser_link(
            database.connection, "browser/show_evidence", shown_passages(made.paths)
        )
        made = _joined(replace(made, browser=link), decision, structural)
    made = replace(
        made,
        seconds=made.seconds + spent,
        usage=metered.usage if metered is not None and metered.usage.calls else None,
    )
    return replace(made, queries=queries_of(made))


def found_for(retriever: Retrieves, question: str) -> Retrieval:
    """Return what a retriever finds for the text of a question."""
    return retriever.retrieve(Question(id=uuid.uuid4().hex, text=question))


def from_retrieval(
    retriever: Retrieves,
    retrieval: Retrieval,
    *,
    model: LanguageModel | None = None,
    form: str = "short",
    on_text: Callable[[str], None] | None = None,
    reader: str | None = None,
) -> Answer:
    """Return the answer from passages that were retrieved: by the model, else by the reader."""
    began = time.perf_counter()
    supporting = supporting_sentences(retrieval, retriever.encoder)
    answer = Answer(
        question=retrieval.question.text,
        corpus=retriever.corpus,
        agent=retriever.agent.name if retriever.method in ("kgp", "ircot") else retriever.method,
        text="",
        supporting=supporting,
        passages=retrieval.passages,
        paths=retrieval.paths,
        seconds=0.0,
        settings={"method": retriever.method, **asdict(retriever.settings)},
    )
    if retrieval.passages:
        if model is None:
            answer = _read(answer, reader)
        else:
            answer = _with_model(answer, model, form, retriever.encoder, on_text, reader)
    return replace(answer, seconds=retrieval.seconds + time.perf_counter() - began)


def _with_model(
    answer: Answer,
    model: LanguageModel,
    form: str,
    encoder: Encoder | None,
    on_text: Callable[[str], None] | None,
    reader: str | None,
) -> Answer:
    """Return the model's answer, checked; where it gives none, the one there is, and why."""
    made = answer_with_model(
        answer.question, answer.passages, model, form=form, encoder=encoder, on_text=on_text
    )
    if made.kind == "answer":
        numbers = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
        text = marked(made.statements, numbers)
        return replace(answer, text=text, statements=made.statements, notes=made.notes)
    if made.kind == "abstains":
        return replace(answer, text="", notes=made.notes)
    return _read(
        replace(answer, notes=(*made.notes, "The offline reader answers instead.")), reader
    )


def _read(answer: Answer, reader: str | None) -> Answer:
    """Return the offline answer: what the reader found, or for why and how the best sentence.

    The text is empty where the reader found nothing.
    """
    if asks_for_an_account(answer.question):
        return replace(answer, text=answer.supporting[0].text if answer.supporting else "")
    from kgp_neo4j.models.reader import load_reader

    reading = load_reader(reader).read(answer.question, answer.passages, answer.paths)
    first = holding_sentence(reading, answer.passages)
    rest = tuple(
        s
        for s in answer.supporting
        if first is None or (s.passage, s.start) != (first.passage, first.start)
    )
    supporting = (first, *rest) if first else rest
    return replace(answer, text=reading.text, reading=reading, supporting=supporting)


def answered_by(answer: Answer) -> str:
    """Return who gave an answer: `structure`, `model`, `reader`, `sentence`, or empty for nobody.

    The reader that found nothing has answered too, as has the model that says so.
    """
    structural = answer.structural
    if structural is not None and (
        answer.type.type == "structural" or (structural.sure and structural.found)
    ):
        return "structure"
    if answer.statements:
        return "model"
    if answer.reading is not None:
        return "reader"
    if answer.text:
        return "sentence"
    if answer.usage is not None and answer.passages:
        return "model"
    return ""


def _check(question: str, type_: str | None, form: str) -> None:
    if not question.strip():
        raise ConfigurationError("the question is empty", hint="Ask something.")
    if not is_storable(question):
        raise ConfigurationError("the question is not valid Unicode", hint="Use UTF-8.")
    for what, given, known in (("type of question", type_, TYPES), ("form of answer", form, FORMS)):
        if given is not None and given not in known:
            raise ConfigurationError(
                f"there is no {what} {given!r}", hint=f"Choose one of {', '.join(known)}."
            )


def _decided(
    database: Database,
    corpus: str,
    question: str,
    type_: str | None,
    write: Callable[[str], str] | None,
) -> TypeDecision:
    if type_ == "model":
        if write is None:
            raise ConfigurationError(
                "no language model is there to decide the type of the question",
                hint="Name one (--llm NAME), or leave --type out.",
            )
        return decide_with_model(database, corpus, question, write)
    if type_ is not None:
        return TypeDecision(type_, by="option")
    return decide(database, corpus, question)


def _from_structure(
    database: Database,
    corpus: str,
    question: str,
    decision: TypeDecision,
    structural: StructuralAnswer,
) -> Answer:
    cited = dict.fromkeys(c.table or c.document for c in structural.citations)
    return Answer(
        question=question,
        corpus=corpus,
        agent="structure",
        text=structural.text,
        supporting=(),
        passages=(),
        paths=(),
        seconds=0.0,
        browser=browser_link(database.connection, "browser/show_structure", cited),
        type=decision,
        structural=structural,
    )


def _joined(answer: Answer, decision: TypeDecision, structural: StructuralAnswer | None) -> Answer:
    """Return the answer from passages with the structural one, which speaks first where sure."""
    said = structural is not None and structural.sure and structural.found
    return replace(
        answer,
        text=structural.text if structural is not None and said else answer.text,
        type=decision,
        structural=structural,
    )
