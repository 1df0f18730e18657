"""Asks a pipeline that a test puts together."""

from collections.abc import Callable
from typing import Any

from kgp_neo4j import Answer, Database, LanguageModel, Pipeline, Retrieval, Retriever
from kgp_neo4j.corpus.pipeline import ModelAnswerer, ReaderAnswerer
from kgp_neo4j.corpus.tables.reading import Reading
from kgp_neo4j.llm.chat import MeteredModel
from kgp_neo4j.types.corpus import Form
from kgp_neo4j.types.tables import StructuralAnswer


class Never:
    """A retriever that must not be asked."""

    name = "never"
    encoder = None

    def retrieve(self, question: Any) -> Retrieval:
        raise AssertionError("the passages were searched")


def pipeline_with(
    database: Any,
    corpus: str,
    retriever: Retriever,
    *,
    model: LanguageModel | None = None,
    form: Form = "short",
    reader: Any = None,
) -> Pipeline:
    """Return a pipeline over this retriever, with the offline reader or a language model."""
    offline = ReaderAnswerer(reader)
    if model is None:
        return Pipeline(database, corpus, retriever, offline)
    meter = MeteredModel(model)
    return Pipeline(database, corpus, retriever, ModelAnswerer(meter, form, offline), meter=meter)


def ask(
    database: Database,
    corpus: str,
    question: str,
    retriever: Retriever,
    *,
    type_: Any = None,
    **options: Any,
) -> Answer:
    """Return the answer of such a pipeline."""
    return pipeline_with(database, corpus, retriever, **options).ask(question, type_=type_)


def answer_structural(
    database: Database, corpus: str, question: str, write: Callable[[str], str] | None = None
) -> StructuralAnswer:
    """Return the answer from pages and tables alone."""
    reading = Reading(database, corpus, question)
    if write and not reading.by_words.sure:
        reading.ask(write)
    return reading.answer(write)
