"""One pipeline: a question in, an answer with checked citations out.

A retriever finds passages, an answerer answers from them; any objects that do so can be used.
"""

import re
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypedDict, Unpack, get_args

from kgp_neo4j.corpus.answer.check import Ask
from kgp_neo4j.corpus.answer.conversation import Said, by_rules
from kgp_neo4j.corpus.answer.traces import cited_parts, queries_of, shown_passages
from kgp_neo4j.corpus.load.stored import require_corpus
from kgp_neo4j.corpus.read import by_sentence
from kgp_neo4j.corpus.read.by_sentence import asks_for_an_overview, overview, with_overview
from kgp_neo4j.corpus.read.identifiers import identify
from kgp_neo4j.corpus.read.parts import joined, parts_of
from kgp_neo4j.corpus.traverse.algorithm import Agent, read_passages
from kgp_neo4j.environment.configuration import check_question
from kgp_neo4j.environment.job import tell
from kgp_neo4j.graphdb.database import Database, browser_link
from kgp_neo4j.llm.chat import MeteredModel, find_model, writer
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.plugins import load_plugin, plugged
from kgp_neo4j.text.safe import cut, parts
from kgp_neo4j.text.words import DEFAULT_LANGUAGE
from kgp_neo4j.types.corpus import (
    Answer,
    Form,
    LanguageModel,
    Passage,
    Question,
    QuestionType,
    Reading,
    ReasoningPath,
    Rerank,
    Retrieval,
    Span,
)
from kgp_neo4j.types.errors import ConfigurationError, KgpError
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings, check_choice
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

OnText = Callable[[str], None]
#: Passages that are looked at where the reader may not know the language, and characters of each
#: that tell its script.
_FIRST, _LOOKED_AT = 5, 300
#: Times that a question is answered whose evidence is changed each time.
_ATTEMPTS = 3
#: How often the sentence that says most answers a question for why or how; that it gives a reason
#: in so many words makes it no likelier (benchmarks/README.md).
_ACCOUNT = 0.65
#: Questions that a table answers by reckoning, if at all.
_AVERAGES = re.compile(r"\b(?:average|mean|sum) (?:of|for|over)\b|\bon average\b", re.IGNORECASE)


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
        self, evidence: Answer, *, encoder: Encoder | None = None, on_text: OnText | None = None
    ) -> Answer:
        """Return `evidence`, which has question, passages and paths but no text, with its answer.

        `encoder` compares sentences; `on_text` is called with the pieces of a reply, unchecked,
        while it is written.
        """


class MethodOptions(TypedDict, total=False):
    """How passages are found: `agent` is a name, or an object of your own."""

    method: str
    agent: str | Agent | None
    settings: TraversalSettings | None
    agent_settings: AgentSettings | None


class PipelineOptions(MethodOptions, total=False):
    """How passages are retrieved, who `rerank`s them (`mdr`, `llm`), and who answers from them.

    `model` is a language model, or the name of one (`local:FILE.gguf`, or a chat server's), which
    answers in a `form`. Without it the offline `reader` does: an object, the folder of one, or the
    name of one that is plugged in. `method` and `agent` are names of such, too.
    """

    rerank: Rerank
    model: LanguageModel | str | None
    form: Form
    reader: Reader | str | None


@dataclass(frozen=True)
class ReaderAnswerer:
    """Answer with the offline reader: `reader` is one, or the folder of one (default: bundled).

    A question for why or how is answered with the most relevant sentence, one for an overview with
    those found. One in a language that the bundled reader does not know gets the sentences that
    share the rarest words with it; `language` is the passages' own.
    """

    reader: Reader | str | None = None
    language: str = DEFAULT_LANGUAGE

    def answer(
        self, evidence: Answer, *, encoder: Encoder | None = None, on_text: OnText | None = None
    ) -> Answer:
        """Return the answer with the reader's result, and the sentence that contains it first."""
        if evidence.sentences:
            return overview(evidence)
        if not self._knows_language(evidence):
            nearest = by_sentence.nearest_sentences(evidence.question, evidence.passages[:_FIRST])
            none = "no sentence has words of the question"
            which = "these sentences come nearest" if nearest else none
            notes = (*evidence.notes, f"The offline reader knows English; {which}.")
            text = nearest[0].text if nearest else ""
            return replace(evidence, text=text, sentences=nearest, notes=notes)
        read: Callable[..., Reading] = self._loaded().read
        read = partial(read, encoder=encoder) if self.reader is None else read
        reading = read(evidence.question, evidence.passages, evidence.paths)
        account = reading.kind != "none" and by_sentence.asks_for_an_account(evidence.question)
        if reading.sentences and account:
            best = reading.sentences[0]
            reading = replace(
                reading, text=best.text, kind="sentence", stated=False, confidence=_ACCOUNT,
                spans=(Span(best.passage, best.start, best.end),),
            )  # fmt: skip
        return replace(evidence, reading=reading, **parts(reading, "text", "stated", "sentences"))

    def _knows_language(self, evidence: Answer) -> bool:
        """Return whether the reader, if it is the bundled one, knows question and passages."""
        texts = [passage.text[:_LOOKED_AT] for passage in evidence.passages[:_FIRST]]
        return self.reader is not None or (
            self.language == DEFAULT_LANGUAGE
            and by_sentence.is_in_latin_script(evidence.question)
            and any(map(by_sentence.is_in_latin_script, texts))
        )

    def open(self) -> None:
        """Load the reader if it knows the language; `answer` says why where that cannot be done."""
        if self.reader is not None or self.language == DEFAULT_LANGUAGE:
            with suppress(KgpError):
                self._loaded()

    def asking(self, evidence: Answer) -> Ask:
        """Return what finds the spans likeliest to answer, if the reader knows the language."""
        reader = self._loaded() if self._knows_language(evidence) else None
        return getattr(reader, "likeliest", None)

    def doubts(self, read: Answer, said: str) -> bool:
        """Return whether the reader is sure of its answer, or finds it far likelier than `said`."""
        doubts = getattr(self._loaded(), "doubts", lambda *_: False)
        return read.stated or doubts(read.question, read.passages, read.paths, said)

    def _loaded(self) -> Reader:
        from kgp_neo4j.corpus.read.reader import load_reader

        given = self.reader
        if isinstance(given, str) and given in plugged("reader"):
            given = load_plugin("reader", given)()
        return load_reader(given) if given is None or isinstance(given, str) else given


@dataclass(frozen=True)
class ModelAnswerer:
    """Answer with one call to a language model; every sentence of its reply is checked.

    The `offline` reader says which passages the model is shown, and answers where the model does
    not, where no passage carries what the model says and its own answer is probable, or where the
    model says another short answer and it is sure, or finds that one far less likely; what the
    model said is then `overruled`. What both say and the passages carry is stated.
    """

    model: LanguageModel
    form: Form = "short"
    offline: ReaderAnswerer = ReaderAnswerer()

    def answer(
        self, evidence: Answer, *, encoder: Encoder | None = None, on_text: OnText | None = None
    ) -> Answer:
        """Return the answer with the model's statements, or the reader's with the reason."""
        from kgp_neo4j.corpus.answer.check import marked
        from kgp_neo4j.corpus.answer.model import answer_with_model, passages_to_show, weigh

        question, passages = evidence.question, evidence.passages
        read = self.offline.answer(evidence, encoder=encoder)
        reply = answer_with_model(
            question,
            passages,
            self.model,
            form=self.form,
            shown=passages_to_show(evidence, read.reading, self.model.passages),
            worth=read.reading.worth if read.reading else {},
            abstains=read.tier not in ("stated", "probable"),
            encoder=encoder,
            ask=self.offline.asking(evidence),
            on_text=on_text,
        )
        notes = (*evidence.notes, *reply.notes)
        if reply.kind == "abstains" and not read.stated:
            return replace(evidence, sentences=read.sentences, notes=notes)
        if reply.kind != "answer":
            told = ("The offline reader answers instead.", *read.notes[len(evidence.notes) :])
            return replace(read, notes=(*notes, *told))
        short = self.form == "short"
        said = reply.statements[:1] if short else reply.statements
        kind = read.reading.kind if read.reading else ""
        unsaid = all(each.judged and not each.carried for each in said)
        words = f"“{cut(said[0].text, 60)}”"
        if unsaid and kind == "none":
            note = f"The language model says {words}, which no passage carries."
            silent = replace(evidence, sentences=read.sentences, overruled=reply.statements)
            return replace(silent, notes=(*evidence.notes, note))
        agrees = weigh(said, read.reading, read.tier)
        other = ""
        # A sentence that stands for an answer to why or how is no rival of the model's.
        if unsaid and read.tier in ("stated", "probable") and kind not in ("", "sentence"):
            how = "the same, for a reason that" if agrees else f"{words}, which"
            other = f"The language model says {how} no passage carries."
        elif short and agrees is False and self.offline.doubts(read, said[0].text):
            other = f"The language model says otherwise: {words}."
        if other:
            return replace(read, overruled=reply.statements, notes=(*read.notes, other))
        if agrees is False:
            how = read.probably or "nine in ten"
            notes = (*notes, f"The offline reader reads otherwise: {read.text} ({how}).")
        carried = all(statement.carried for statement in reply.statements)
        stated = bool(agrees) and (carried or (short and read.stated))
        numbers = {passage.id: n for n, passage in enumerate(passages, 1)}
        text = marked(reply.statements, numbers)
        return replace(read, text=text, stated=stated, statements=reply.statements, notes=notes)


class Pipeline:
    """Answer questions over one corpus: from its pages and tables, or from its passages.

    `meter` counts a question's usage of the language model that retriever and answerer share.
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
        self._open_reader()

    @property
    def _offline(self) -> object:
        """The offline reader, which answers alone or beside a model, where there is one."""
        return getattr(self.answerer, "offline", self.answerer)

    def _open_reader(self) -> None:
        if isinstance(self._offline, ReaderAnswerer):
            self._offline.open()

    def ask(
        self, question: str, *, type_: QuestionType | None = None, on_text: OnText | None = None
    ) -> Answer:
        """Answer a question, with all evidence for the answer.

        A structural question (KGP, section on structural questions) is answered by queries over
        pages and tables, one about content from the passages that the retriever finds; `type_`
        overrides the decision. `on_text` is called with the pieces of a model's reply, unchecked,
        while it is written. The text is empty where nothing in the evidence answers. `seconds` is
        the whole time, except the loading of models. Raises ConfigurationError for a question that
        is empty or too long, CorpusError where the corpus does not exist, and ModelError where the
        model cannot be used.
        """
        if not question.strip():
            raise ConfigurationError("the question is empty", hint="Ask something.")
        check_question(question)
        if type_ is not None:
            check_choice("type of question", type_, get_args(QuestionType))
            require_corpus(self.database, self.corpus)
        asked = parts_of(question) if type_ is None and self.meter is None else None
        if asked is None:
            return self._ask(question, type_, on_text)
        answers = list[Answer]()
        # Of a difference the second question stands first in its words.
        order = -1 if asked.differs else 1
        said = list[Said]()
        for part in asked.questions[::order]:
            answer = self._ask(by_rules(part, said), None, on_text)
            answers.append(answer)
            titles = tuple(passage.title for passage in answer.passages[:1])
            said.append(Said(answer.question, answer.text, titles))
        return joined(question, asked, answers[::order])

    def _ask(self, question: str, type_: QuestionType | None, on_text: OnText | None) -> Answer:
        """Answer a question without parts, again where what it cites has changed meanwhile."""
        for _ in range(_ATTEMPTS):
            answer = self._attempt(question, type_, on_text)
            texts = {each.id: each.text for each in answer.passages if each.id in answer.rests_on}
            there = read_passages(self.database, texts) if texts else {}
            if texts == {key: each.text for key, each in there.items()}:
                break
        return answer

    def _attempt(self, question: str, type_: QuestionType | None, on_text: OnText | None) -> Answer:
        began = time.perf_counter()
        try:
            decision, structural = self._answer_structure(question, type_)
            spent = time.perf_counter() - began
            if structural is not None and decision.type == "structural":
                answer = _decided(Answer(question, self.corpus, "structure"), structural)
                shown = cited_parts(structural)
            else:
                # The first question waits for the reader no longer than for the passages.
                loading = threading.Thread(target=self._open_reader, daemon=True)
                loading.start()
                english = getattr(self._offline, "language", "") == DEFAULT_LANGUAGE
                retrieved = self.retrieve(question)
                if asks_for_an_overview(question):
                    encoder = self.retriever.encoder or load_encoder()
                    retrieved = with_overview(self.database, self.corpus, retrieved, encoder)
                found, told = identify(self.database, self.corpus, retrieved, names=english)
                loading.join()
                tell("passages", lambda: found)
                answer = told(self.answer(found, structural, on_text))
                shown = shown_passages(answer.paths)
        finally:
            usage = None if self.meter is None else self.meter.take_usage()
        usage = usage if usage is not None and usage.calls else None
        link = browser_link(self.database.connection, shown)
        seconds = answer.seconds + spent
        answer = replace(answer, seconds=seconds, type=decision, usage=usage, browser=link)
        return replace(answer, queries=queries_of(answer))

    def retrieve(self, question: str) -> Retrieval:
        """Return the passages for a question, best first, and the paths that led to them."""
        return self.retriever.retrieve(Question(uuid.uuid4().hex, question))

    def answer(
        self,
        retrieval: Retrieval,
        structural: StructuralAnswer | None = None,
        on_text: OnText | None = None,
    ) -> Answer:
        """Return the answer from retrieved passages, or the structural one where that wins."""
        began = time.perf_counter()
        sure = structural is not None and structural.sure and structural.found
        found = parts(retrieval, "passages", "paths", "notes", "settings", "sentences")
        answer = Answer(retrieval.question.text, self.corpus, self.retriever.name, **found)
        # Where pages and tables give a sure answer, no passage need be read.
        if retrieval.passages and not sure:
            encoder = self.retriever.encoder
            answer = self.answerer.answer(answer, encoder=encoder, on_text=on_text)
        if structural is not None:
            answer = _decided(answer, structural)
        elif _AVERAGES.search(answer.question) and _is_in_row(answer):
            # What a table is to reckon is no cell of it.
            answer = replace(answer, text="", stated=False, reading=None)
        return replace(answer, seconds=retrieval.seconds + time.perf_counter() - began)

    def _answer_structure(
        self, question: str, type_: QuestionType | None
    ) -> tuple[TypeDecision, StructuralAnswer | None]:
        """Return what a question is about and, if not content alone, its answer by structure."""
        if type_ == "content":
            return TypeDecision("content", by="option"), None
        if type_ == "model" and self.meter is None:
            what = "no language model is there to decide the type of the question"
            raise ConfigurationError(what, hint="Name one (--llm NAME), or leave --type out.")
        (state,) = self.database.read("structure/structured", corpus=self.corpus)
        if type_ not in ("structural", "both") and not (state["pages"] or state["tables"]):
            return TypeDecision("content", reason="the corpus has no pages and no tables"), None
        # Only corpora with pages or tables wait for its import.
        from kgp_neo4j.corpus.tables.reading import Reading

        write = None if self.meter is None else writer(self.meter)
        reading = Reading(self.database, self.corpus, question)
        given = type_ if type_ in ("structural", "both") else None
        # Where the words say that it is about content, or answer it, a model is not asked.
        unclear = given or reading.decision.type != "content"
        if write and (type_ == "model" or (unclear and not reading.by_words.sure)):
            reading.ask(write)
        decision = TypeDecision(given, by="option") if given else reading.decision
        return decision, reading.answer(write) if decision.type != "content" else None


def _decided(answer: Answer, structural: StructuralAnswer) -> Answer:
    """Return the answer as every door shows it: what passages say, or what pages and tables do.

    The likelier one wins; over a cell of a table, the table itself where rows are to be reckoned
    with, or nothing. What has lost is no longer there; where neither is likely, both are.
    """
    own = answer.confidence
    said, likely = (each.tier in ("stated", "probable") for each in (answer, structural))
    one_cell = said and structural.computes and _is_in_row(answer)
    if one_cell or not said:
        wins = likely or not (answer.text or (answer.sentences and structural.found))
    else:
        wins = structural.sure or (likely and own is not None and structural.confidence >= own)
    if wins:
        return replace(
            answer, text=structural.text, stated=structural.tier == "stated", structural=structural,
            reading=None, sentences=(), statements=(), overruled=answer.statements,
        )  # fmt: skip
    if said and not one_cell:
        return answer
    unsaid = replace(answer, structural=structural)
    return replace(unsaid, text="", stated=False, reading=None) if one_cell else unsaid


def _is_in_row(answer: Answer) -> bool:
    """Return whether the reader's words stand in a row of a table."""
    texts = {passage.id: passage.text for passage in answer.passages}
    spans = answer.reading.spans if answer.reading and not answer.statements else ()
    places = ((texts.get(span.passage, ""), span.start) for span in spans)
    return any(text.startswith("|", text.rfind("\n", 0, at) + 1) for text, at in places)


def make_pipeline(
    database: Database,
    corpus: str,
    *,
    model: LanguageModel | str | None = None,
    form: Form = "short",
    reader: Reader | str | None = None,
    rerank: Rerank = "none",
    **options: Unpack[MethodOptions],
) -> Pipeline:
    """Return the pipeline of these `PipelineOptions`; ConfigurationError for options at odds."""
    check_choice("form of answer", form, get_args(Form))
    opened = find_model(model)
    meter = None if opened is None else MeteredModel(opened)
    retriever = make_retriever(database, corpus, model=meter, rerank=rerank, **options)
    stored = database.read("inspect/state", corpus=corpus)
    offline = ReaderAnswerer(reader, stored[0]["language"] if stored else DEFAULT_LANGUAGE)
    answerer = offline if meter is None else ModelAnswerer(meter, form, offline)
    return Pipeline(database, corpus, retriever, answerer, meter=meter)


def make_retriever(
    database: Database,
    corpus: str,
    *,
    model: LanguageModel | None = None,
    rerank: Rerank = "none",
    **options: Unpack[MethodOptions],
) -> Retriever:
    """Return the retriever of these options; raises ConfigurationError where they do not fit."""
    check_choice("rerank", rerank, get_args(Rerank))
    make: Callable[..., Retriever] = load_plugin("retriever", options.get("method", "kgp"))
    return make(database, corpus, model=model, rerank=rerank, **options)
