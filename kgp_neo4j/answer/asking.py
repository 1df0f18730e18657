"""From a question to an answer that can be checked."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from kgp_neo4j.answer.browser import browser_link
from kgp_neo4j.answer.support import supporting_sentences
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError, no_corpus
from kgp_neo4j.evidence import Retriever
from kgp_neo4j.load.ids import is_storable
from kgp_neo4j.records import Answer, Question, Retrieval
from kgp_neo4j.structure import answer_structural, decide, decide_with_model
from kgp_neo4j.structures import StructuralAnswer, TypeDecision

__all__ = ["TYPES", "ask"]

#: What a question can be about; `--type` takes these.
TYPES = ("structural", "content", "both")
_PATHS = 4


def ask(
    database: Database,
    corpus: str,
    question: str,
    retriever: Callable[[], Retriever],
    *,
    type_: str | None = None,
    write: Callable[[str], str] | None = None,
) -> Answer:
    """Answer a question over a corpus, from its pages and tables or from its passages.

    A structural question (KGP, section on structural questions) is answered by queries over pages
    and tables, with citations down to the cell; one about content with its best sentence.
    `type_` overrides the decision; `write` is a language model that decides, and that answers from
    what the structure holds. `retriever` is called for questions about content alone, since it may
    load an encoder. The answer's text is empty when nothing in the corpus matches. `seconds` covers
    everything from the question on but loading a model. Raises ConfigurationError for an empty
    question.
    """
    if not question.strip():
        raise ConfigurationError("the question is empty", hint="Ask something.")
    if not is_storable(question):
        raise ConfigurationError("the question is not valid Unicode", hint="Use UTF-8.")
    if type_ is not None and type_ not in TYPES:
        raise ConfigurationError(
            f"there is no type of question {type_!r}", hint=f"Choose one of {', '.join(TYPES)}."
        )
    began = time.perf_counter()
    if type_ is not None and {"name": corpus} not in database.read("inspect/corpus_names"):
        raise no_corpus(corpus)
    decision = _decided(database, corpus, question, type_, write)
    structural = None
    if decision.type != "content":
        structural = answer_structural(database, corpus, question, write)
    spent = time.perf_counter() - began
    if structural is not None and decision.type == "structural":
        return _from_structure(database, corpus, question, decision, structural, spent)
    answer = _from_content(database, retriever(), question)
    return _joined(answer, decision, structural, spent)


def _decided(
    database: Database,
    corpus: str,
    question: str,
    type_: str | None,
    write: Callable[[str], str] | None,
) -> TypeDecision:
    if type_ is not None:
        return TypeDecision(type_, by="option")
    if write is not None:
        return decide_with_model(database, corpus, question, write)
    return decide(database, corpus, question)


def _from_structure(
    database: Database,
    corpus: str,
    question: str,
    decision: TypeDecision,
    structural: StructuralAnswer,
    seconds: float,
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
        seconds=seconds,
        browser=browser_link(database.connection, "browser/show_structure", cited),
        type=decision,
        structural=structural,
    )


def _from_content(database: Database, retriever: Retriever, question: str) -> Answer:
    began = time.perf_counter()
    retrieval = retriever.retrieve(Question(id=uuid.uuid4().hex, text=question))
    supporting = supporting_sentences(retrieval, retriever.encoder)
    return Answer(
        question=question,
        corpus=retriever.corpus,
        agent=retriever.agent.name,
        text=supporting[0].text if supporting else "",
        supporting=supporting,
        passages=retrieval.passages,
        paths=retrieval.paths,
        seconds=time.perf_counter() - began,
        browser=browser_link(database.connection, "browser/show_evidence", _shown(retrieval)),
    )


def _joined(
    answer: Answer, decision: TypeDecision, structural: StructuralAnswer | None, seconds: float
) -> Answer:
    """Return the answer from passages with the structural one, which speaks first where sure."""
    said = structural is not None and structural.sure and structural.found
    return replace(
        answer,
        text=structural.text if structural is not None and said else answer.text,
        type=decision,
        structural=structural,
        seconds=answer.seconds + seconds,
    )


def _shown(retrieval: Retrieval) -> list[str]:
    """Return the passages of the best paths: few enough for a picture that can be read."""
    steps = [step.passage for path in retrieval.paths[:_PATHS] for step in path.steps]
    return list(dict.fromkeys(steps))
