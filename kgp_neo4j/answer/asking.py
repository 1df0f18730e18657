"""From a question to an answer that can be checked."""

from __future__ import annotations

import time
import uuid

from kgp_neo4j.answer.browser import browser_link
from kgp_neo4j.answer.support import supporting_sentences
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.evidence import Retriever
from kgp_neo4j.records import Answer, Question, Retrieval

__all__ = ["ask"]

_PATHS = 4


def ask(database: Database, retriever: Retriever, question: str) -> Answer:
    """Answer a question over the retriever's corpus with its best supporting sentence.

    The answer carries the passages, the reasoning paths and the sentences, so that anyone can check
    it; its text is empty when nothing in the corpus matches. `seconds` covers everything from the
    question on. Raises ConfigurationError for an empty question.
    """
    if not question.strip():
        raise ConfigurationError("the question is empty", hint="Ask something.")
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
        browser=browser_link(database.connection, _shown(retrieval)),
    )


def _shown(retrieval: Retrieval) -> list[str]:
    """Return the passages of the best paths: few enough for a picture that can be read."""
    steps = [step.passage for path in retrieval.paths[:_PATHS] for step in path.steps]
    return list(dict.fromkeys(steps))
