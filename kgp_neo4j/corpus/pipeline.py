"""One pipeline: a question in, an answer with checked citations out.

A retriever finds passages, an answerer answers from them; both are small protocols, so that any
object that implements one can be used. `make_pipeline` makes the pipeline of every caller (command
line, Python API, chat, bridges, benchmarks).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, get_args

from kgp_neo4j.corpus.answer.shown_queries import queries_of, shown_passages
from kgp_neo4j.corpus.read.question_form import asks_for_an_account, is_in_latin_script
from kgp_neo4j.corpus.read.shared_pieces import nearest_sentences
from kgp_neo4j.corpus.retrieve import METHODS, PassageRetriever
from kgp_neo4j.corpus.tables.decide import StructuralReading, read_question
from kgp_neo4j.corpus.traverse.agents.base import Agent
from kgp_neo4j.environment.job import tell
from kgp_neo4j.environment.question import check_question
from kgp_neo4j.environment.spans import span
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.links import browser_link
from kgp_neo4j.llm.call import MeteredModel, writer
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.language import DEFAULT_LANGUAGE
from kgp_neo4j.types.checks import check_choice
from kgp_neo4j.types.corpus import (
    Answer,
    Form,
    Method,
    Passage,
    Question,
    QuestionType,
    Reading,
    ReasoningPath,
    Rerank,
    Retrieval,
    SupportingSentence,
)
from kgp_neo4j.types.errors import ConfigurationError, no_corpus
from kgp_neo4j.types.language import LanguageModel
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

__all__ = [
    "Answerer",
    "ModelAnswerer",
    "Pipeline",
    "Reader",
    "ReaderAnswerer",
    "Retriever",
    "answered_by",
    "make_pipeline",
    "make_retriever",
]

OnText = Callable[[str], None]
#: Passages that are looked at where the reader may not know the language, and characters of each
#: that tell its script.
_FIRST, _LOOKED_AT = 5, 300


class Retriever(Protocol):
    """Find the passages for a question: `PassageRetriever`, `Ircot`, or another implementation.

    Answers give `name` as the source of their passages; `encoder` compares sentences with the
    question, and with None words are compared.
    """

    @property
    def name(self) -> str:
        """Return the retriever's name, as answers give it."""

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the passages, None where there is none."""

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages for a question, best first, and the paths that led to them."""


class Reader(Protocol):
    """Read an answer from passages: `load_reader` returns the offline one."""

    def read(
        self, question: str, passages: Sequence[Passage], paths: Sequence[ReasoningPath] = ()
    ) -> Reading:
        """Return the answer found in the passages; `kind` is `none` where there is none."""


class Answerer(Protocol):
    """Answer from passages: `ReaderAnswerer`, `ModelAnswerer`, or another implementation."""

    def answer(
        self, found: Answer, *, encoder: Encoder | None = None, on_text: OnText | None = None
    ) -> Answer:
        """Return `found`, which has question, passages and paths but no text, with its answer.

        `encoder` compares sentences; `on_text` is called with the pieces of a reply, unchecked,
        while it is written.
        """


@dataclass(frozen=True)
class ReaderAnswerer:
    """Answer with the offline reader: `reader` is one, or the folder of one (default: shipped).

    A question for why or how is answered with the most relevant sentence. One in a language that
    the shipped reader does not know is not read: the sentences are those that share the rarest
    words with it; `language` is the passages' own. The text is empty where nothing is found.
    """

    reader: Reader | str | None = None
    language: str = DEFAULT_LANGUAGE

    def answer(
        self, found: Answer, *, encoder: Encoder | None = None, on_text: OnText | None = None
    ) -> Answer:
        """Return the answer with the reader's result, and the sentence that contains it first."""
        unknown = self.reader is None and not (
            self.language == DEFAULT_LANGUAGE
            and is_in_latin_script(found.question)
            and any(
                is_in_latin_script(passage.text[:_LOOKED_AT]) for passage in found.passages[:_FIRST]
            )
        )
        if unknown:
            shown = nearest_sentences(found.question, found.passages[:_FIRST])
            said = (
                "these sentences come nearest" if shown else "no sentence has words of the question"
            )
            note = f"The offline reader knows English; {said}."
            return replace(found, text=_best(shown), sentences=shown, notes=(*found.notes, note))
        reading = self.read(found)
        if reading.kind != "none" and asks_for_an_account(found.question):
            return replace(found, text=_best(reading.sentences), sentences=reading.sentences)
        return replace(
            found,
            text=reading.text,
            stated=reading.stated,
            reading=reading,
            sentences=reading.sentences,
        )

    def read(self, found: Answer) -> Reading:
        """Return what the reader finds in the passages of `found`."""
        from kgp_neo4j.corpus.read.reader import load_reader

        given = self.reader
        reader = given if given is not None and not isinstance(given, str) else load_reader(given)
        return reader.read(found.question, found.passages, found.paths)


@dataclass(frozen=True)
class ModelAnswerer:
    """Answer with one call to a language model; every sentence of its reply is checked.

    `form` is `short` (a few words with a reason) or `long` (a paragraph). Where the model gives no
    answer, `otherwise` answers.
    """

    model: LanguageModel
    form: Form = "short"
    otherwise: Answerer = ReaderAnswerer()

    def __post_init__(self) -> None:
        check_choice("form of answer", self.form, get_args(Form))

    def answer(
        self, found: Answer, *, encoder: Encoder | None = None, on_text: OnText | None = None
    ) -> Answer:
        """Return the answer with the model's statements, or that of `otherwise` with the reason."""
        from kgp_neo4j.corpus.answer.check import marked
        from kgp_neo4j.corpus.answer.model import answer_with_model

        made = answer_with_model(
            found.question,
            found.passages,
            self.model,
            form=self.form,
            encoder=encoder,
            on_text=on_text,
        )
        if made.kind not in ("answer", "abstains"):
            notes = (*found.notes, *made.notes, "The offline reader answers instead.")
            return self.otherwise.answer(replace(found, notes=notes), encoder=encoder)
        offline = self.otherwise if isinstance(self.otherwise, ReaderAnswerer) else ReaderAnswerer()
        notes = (*found.notes, *made.notes)
        found = replace(found, sentences=offline.read(found).sentences, notes=notes)
        if made.kind == "answer":
            numbers = {passage.id: n for n, passage in enumerate(found.passages, 1)}
            text = marked(made.statements, numbers)
            return replace(
                found,
                text=text,
                stated=all(statement.carried for statement in made.statements),
                statements=made.statements,
            )
        return found


class Pipeline:
    """Answer questions over one corpus: from its pages and tables, or from its passages.

    `meter` counts a question's usage of the language model that retriever and answerer share; the
    model also decides on the type of a question where that is requested.
    """

    def __init__(
        self,
        database: Database,
        corpus: str,
        retriever: Retriever,
        answerer: Answerer | None = None,
        *,
        meter: MeteredModel | None = None,
    ) -> None:
        self.database = database
        self.corpus = corpus
        self.retriever = retriever
        self.answerer = answerer or ReaderAnswerer()
        self.meter = meter

    def open(self) -> None:
        """Load everything for the first question; `ask` and `retrieve` call it themselves."""
        _ = self.retriever.encoder

    def ask(
        self, question: str, *, type_: QuestionType | None = None, on_text: OnText | None = None
    ) -> Answer:
        """Answer a question, with all evidence for the answer.

        A structural question (KGP, section on structural questions) is answered by queries over
        pages and tables, with citations down to the cell; one about content from the passages that
        the retriever finds. `type_` overrides the decision between them; `model` lets the language
        model decide. `on_text` is called with the pieces of a model's reply, unchecked, while it is
        written. The text is empty where nothing in the evidence answers. `seconds` is the whole
        time from the question on, except the loading of models. Raises ConfigurationError for a
        question that is empty or too long, CorpusError where the corpus does not exist, and
        ModelError where the model cannot be used.
        """
        _check(question)
        if type_ is not None:
            check_choice("type of question", type_, get_args(QuestionType))
            if {"name": self.corpus} not in self.database.read("inspect/names"):
                raise no_corpus(self.corpus)
        began = time.perf_counter()
        write = None if self.meter is None else writer(self.meter)
        try:
            decision, structural = TypeDecision("content", by="option"), None
            if type_ != "content":
                reading = self._read_structure(question, type_, write)
                decision = reading.decision
                structural = reading.answer(write) if decision.type != "content" else None
            spent = time.perf_counter() - began
            if structural is not None and decision.type == "structural":
                made = self._from_structure(question, decision, structural)
            else:
                made = self._from_passages(question, decision, structural, on_text)
        finally:
            usage = None if self.meter is None else self.meter.take_usage()
        made = replace(
            made,
            seconds=made.seconds + spent,
            usage=usage if usage is not None and usage.calls else None,
        )
        return replace(made, queries=queries_of(made))

    def retrieve(self, question: str) -> Retrieval:
        """Return the passages for a question, best first, and the paths that led to them."""
        with span("retrieve", corpus=self.corpus):
            return self.retriever.retrieve(Question(uuid.uuid4().hex, question))

    def answer(
        self,
        retrieval: Retrieval,
        *,
        answerer: Answerer | None = None,
        on_text: OnText | None = None,
    ) -> Answer:
        """Return the answer from retrieved passages; `answerer` replaces the pipeline's."""
        began = time.perf_counter()
        encoder = self.retriever.encoder
        answer = Answer(
            question=retrieval.question.text,
            corpus=self.corpus,
            agent=self.retriever.name,
            text="",
            sentences=(),
            passages=retrieval.passages,
            paths=retrieval.paths,
            seconds=0.0,
            notes=retrieval.notes,
            settings=retrieval.settings,
        )
        if retrieval.passages:
            answer = (answerer or self.answerer).answer(answer, encoder=encoder, on_text=on_text)
        return replace(answer, seconds=retrieval.seconds + time.perf_counter() - began)

    def _read_structure(
        self, question: str, type_: QuestionType | None, write: Callable[[str], str] | None
    ) -> StructuralReading:
        """Read the question over pages and tables, with the requested type.

        A language model decides where the words do not already say that it is about content: of
        most questions nothing is asked.
        """
        if type_ == "model" and write is None:
            raise ConfigurationError(
                "no language model is there to decide the type of the question",
                hint="Name one (--llm NAME), or leave --type out.",
            )
        by_model = write if type_ in (None, "model") else None
        reading = read_question(
            self.database, self.corpus, question, by_model, every=type_ == "model"
        )
        if type_ in ("structural", "both"):
            reading.decision = TypeDecision(type_, by="option")
        return reading

    def _from_passages(
        self,
        question: str,
        decision: TypeDecision,
        structural: StructuralAnswer | None,
        on_text: OnText | None,
    ) -> Answer:
        """Return the answer from passages; a sure structural answer comes before it."""
        said = structural is not None and structural.sure and structural.found
        answerer = self.answerer
        if said and isinstance(answerer, ModelAnswerer):
            # Where pages and tables give a sure answer, the model need not be called again.
            answerer = answerer.otherwise
        found = self.retrieve(question)
        tell("passages", lambda: found)
        with span("answer"):
            made = self.answer(found, answerer=answerer, on_text=on_text)
        link = browser_link(self.database.connection, shown_passages(made.paths))
        return replace(
            made,
            text=structural.text if structural is not None and said else made.text,
            stated=said or made.stated,
            browser=link,
            type=decision,
            structural=structural,
        )

    def _from_structure(
        self, question: str, decision: TypeDecision, structural: StructuralAnswer
    ) -> Answer:
        cited = dict.fromkeys(c.table or c.document for c in structural.citations)
        return Answer(
            question=question,
            corpus=self.corpus,
            agent="structure",
            text=structural.text,
            stated=structural.sure and structural.found,
            sentences=(),
            passages=(),
            paths=(),
            seconds=0.0,
            browser=browser_link(self.database.connection, cited),
            type=decision,
            structural=structural,
        )


def make_pipeline(
    database: Database,
    corpus: str,
    *,
    method: Method = "kgp",
    agent: str | Agent | None = None,
    settings: TraversalSettings | None = None,
    agent_settings: AgentSettings | None = None,
    model: LanguageModel | None = None,
    form: Form = "short",
    reader: Reader | str | None = None,
    rerank: Rerank = "none",
) -> Pipeline:
    """Return the pipeline over a corpus for these options; nothing is loaded yet.

    `model` answers where it is given, else the offline reader (or another `reader`). IRCoT reasons
    with the same model, and `rerank="llm"` is done by it. Raises ConfigurationError for options
    that do not go together.
    """
    check_choice("form of answer", form, get_args(Form))
    meter = None if model is None else MeteredModel(model)
    retriever = make_retriever(
        database,
        corpus,
        method=method,
        agent=agent,
        settings=settings,
        agent_settings=agent_settings,
        model=meter,
        rerank=rerank,
    )
    known = database.read("load/language", corpus=corpus)
    offline = ReaderAnswerer(reader, known[0]["language"] if known else DEFAULT_LANGUAGE)
    answerer = offline if meter is None else ModelAnswerer(meter, form, offline)
    return Pipeline(database, corpus, retriever, answerer, meter=meter)


def make_retriever(
    database: Database,
    corpus: str,
    *,
    method: Method = "kgp",
    agent: str | Agent | None = None,
    settings: TraversalSettings | None = None,
    agent_settings: AgentSettings | None = None,
    model: LanguageModel | None = None,
    rerank: Rerank = "none",
) -> Retriever:
    """Return the retriever of a method; IRCoT retrieves by full text in each of its turns.

    With `rerank="llm"` the language model puts what was found in order, with `rerank="mdr"` an MDR
    encoder. Raises ConfigurationError for an unknown method, for IRCoT or reranking by a language
    model without one, and for IRCoT with reranking.
    """
    check_choice("rerank", rerank, get_args(Rerank))
    if method == "ircot":
        if rerank != "none":
            raise ConfigurationError(
                "IRCoT's passages are in the order of its thoughts",
                hint="Leave --rerank out, or choose another method.",
            )
        if model is None:
            raise ConfigurationError(
                "IRCoT reasons with a language model, and none is named",
                hint="Name one (--llm NAME), or choose another method.",
            )
        from kgp_neo4j.corpus.ircot import Ircot

        searching = PassageRetriever(database, corpus, method="bm25", settings=settings)
        return Ircot(searching, model)
    check_choice("method", method, (*METHODS, "ircot"))
    retriever = PassageRetriever(
        database,
        corpus,
        method=method,
        agent=agent,
        settings=settings,
        agent_settings=agent_settings,
    )
    if rerank == "none":
        return retriever
    from kgp_neo4j.corpus.rerank import Reranked, expect, select

    if rerank == "mdr":
        return Reranked(retriever, rerank, partial(expect, database, corpus))
    if model is None:
        raise ConfigurationError(
            "a language model puts the passages in order, and none is named",
            hint="Name one (--llm NAME), or take --rerank mdr, or leave it out.",
        )
    return Reranked(retriever, rerank, partial(select, model))


def answered_by(answer: Answer) -> str:
    """Return who gave an answer: `structure`, `model`, `reader`, `sentence`, or empty for nobody.

    A reader that found nothing has answered too, as has a model that reports finding nothing.
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


def _best(sentences: Sequence[SupportingSentence]) -> str:
    return sentences[0].text if sentences else ""


def _check(question: str) -> None:
    if not question.strip():
        raise ConfigurationError("the question is empty", hint="Ask something.")
    check_question(question)
