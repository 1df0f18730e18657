"""Frozen types that pass from one stage to the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol, Self, TypedDict, Unpack

from kgp_neo4j.types.tables import (
    PROBABLE,
    ShownQuery,
    SourcePage,
    SourceSection,
    SourceTable,
    StructuralAnswer,
    Tier,
    TypeDecision,
    cited_name,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a language model: its text, why it ended, and its tokens.

    `finish` is `stop` (complete), `length` (cut off), `refused` (declined or filtered) or `empty`.
    Tokens are the server's own count, or `estimated`, rather too high.
    """

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cached: bool = False
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What a language model used: calls and tokens, `estimated` where not all are counted."""

    model: str
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: bool = False


class ReplyOptions(TypedDict, total=False):
    """The options of a reply, as `LanguageModel.reply` describes them."""

    tokens: int
    grammar: str
    schema: Mapping[str, Any] | None
    on_text: Callable[[str], None] | None


class LanguageModel(Protocol):
    """A model that writes text: a chat server, a local model, or a scripted one in a test."""

    name: str

    @property
    def context(self) -> int:
        """The number of tokens for prompt and reply together."""

    @property
    def passages(self) -> int | None:
        """The number of passages that a prompt should have at most, None for all that fit."""

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the reply to one prompt; `task` is the system prompt, `tokens` the reply's limit.

        Engines that can keep to `grammar` (GBNF), or to the JSON `schema`. `on_text` is called with
        each piece of the reply while it is written. Raises ModelError where the model cannot be
        used at all; a reply that is refused, cut off or empty has that in `finish`.
        """

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, or an upper bound."""


class Write(Protocol):
    """A language model as a function, from a prompt to the text of its reply."""

    def __call__(self, prompt: str, **options: Unpack[ReplyOptions]) -> str:
        """Return the text of the reply."""


@dataclass(frozen=True, slots=True)
class Span:
    """The span of an answer in a passage, as offsets in the passage's text."""

    passage: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SupportingSentence:
    """A sentence that supports an answer, by its offsets; a table's row has its columns' names."""

    text: str
    passage: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader found in passages.

    `kind` is `span` (words of a passage, or of the question where it names two things to compare),
    `sentence` (for why and how), `overview`, `yes`, `no`, or `none` (no answer, no `text`).
    `confidence`, from 0 to 1, is the share of such answers that are right; `stated` is true where
    it is high enough to give the answer. `spans` are the answer's places; for yes and no, the
    sentence that decided; for a comparison, both values, the answer's first. `sentences` are the
    most relevant ones, best first; `worth` has the log odds of the best of each passage read.
    """

    text: str
    kind: str
    confidence: float
    spans: tuple[Span, ...] = ()
    stated: bool = False
    sentences: tuple[SupportingSentence, ...] = ()
    worth: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer with the passages that it cites, checked.

    `carried` is true where these support the sentence, `support`, from 0 to 1, is how well, and
    `note` the fault where they do not. `judged` is false where it is in another language than they.
    """

    text: str
    passages: tuple[str, ...]
    carried: bool
    support: float = 0.0
    note: str = ""
    judged: bool = True


_LONGEST_TITLE = 300


def _short_title(title: str) -> str:
    cut = len(title) > _LONGEST_TITLE
    return f"{title[: _LONGEST_TITLE - 1].rstrip()}…" if cut else title


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One document as it was read, before it is split into passages.

    `source` (a file, or data set) and `key` (the record in it) identify the document within its
    corpus. `whole` asks for one passage. `pages` tile the text; `tables` and `sections` are in its
    order. `left_out` lists what of the file could not be used (a scanned page, a locked sheet),
    `notes` what is worth telling (a guessed encoding). `file_hash` is the SHA-256 of a PDF file.
    Of a title over 300 characters, also a section's, the beginning is kept: passages have it.
    """

    title: str
    text: str
    source: str
    key: str = ""
    whole: bool = False
    pages: tuple[SourcePage, ...] = ()
    tables: tuple[SourceTable, ...] = ()
    left_out: tuple[str, ...] = ()
    sections: tuple[SourceSection, ...] = ()
    notes: tuple[str, ...] = ()
    file_hash: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", _short_title(self.title))
        sections = tuple(replace(each, title=_short_title(each.title)) for each in self.sections)
        object.__setattr__(self, "sections", sections)


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The result of a load; characters are counted before splitting and as stored.

    What was read without error is counted; `new`, `unchanged` and `replaced` add up to `documents`,
    and `copies` are files with the contents of others, which have no document of their own.
    `errors` lists what was not loaded, with file, line and reason; `ignored` the other files of
    folders. `recognised` are those of the `pages` that are pictures, read by text recognition.
    `left_out` and `notes` are those of the documents, `language` is what full-text search stems.
    `gone` names files that a folder had when it was loaded before, whose documents are still there;
    `pruned` those whose documents were removed, `moved` those with their new names.
    """

    corpus: str
    files: int = 0
    documents: int = 0
    passages: int = 0
    characters_in: int = 0
    characters_out: int = 0
    new: int = 0
    unchanged: int = 0
    replaced: int = 0
    copies: int = 0
    errors: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    pages: int = 0
    tables: int = 0
    cells: int = 0
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0
    recognised: int = 0
    language: str = ""
    notes: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a corpus; `sources` are all files of its contents, the `source` the first."""

    id: str
    title: str
    source: str
    characters: int = 0
    passages: int = 0
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """A corpus and its counts."""

    name: str
    documents: int
    passages: int
    keywords: int
    encoder: str | None
    dimension: int | None
    #: Passages that `connect` has not seen yet, per edge type.
    unconnected: Mapping[str, int] = field(default_factory=dict)
    pages: int = 0
    tables: int = 0
    #: The `label` of its passages; names of its indexes `fullText` and, if it is large, `vectors`.
    indexes: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConnectReport:
    """The result of `connect`: counts after the run, and seconds per step, some of them at once."""

    corpus: str
    keywords: int = 0
    keyword_links: int = 0
    shared_keyword_edges: int = 0
    mentions: int = 0
    entities: int = 0
    shared_entity_edges: int = 0
    embedded: int = 0
    similarity_edges: int = 0
    mdr_embedded: int = 0
    mdr_edges: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a server offers, our procedures by name, and the fingerprint of what they run."""

    version: str
    edition: str
    gds: bool
    procedures: tuple[str, ...] = ()
    statements: str = ""


#: Who puts the passages found in another order: nobody, an MDR encoder, or the language model.
Rerank = Literal["none", "mdr", "llm"]
#: What a language model writes: a few words with a reason, or a paragraph.
Form = Literal["short", "long"]
#: What a question is about; `model` lets the language model decide.
QuestionType = Literal["structural", "content", "both", "model"]
#: The graphs that `connect` makes.
GraphName = Literal["tfidf", "entity", "knn-st", "knn-mdr"]

_CONTENT = TypeDecision("content")
#: Least confidence of a yes or no that is given as probable: half would be right if it were drawn.
_PROBABLE_YES = 0.75


@dataclass(frozen=True, slots=True)
class Question:
    """A question to answer over a corpus."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as evidence: its place in its document, its text and its score.

    `title` is the document's; where others have the same, `apart` is the end of its source's path
    that they have not. `section` is the path of the headings above all of it ("Methods > Sites").
    `page` counts from 1, and is None where there are no pages; `recognised` is true where it is a
    picture. `columns` are the names of those of the table that the passage begins within.
    """

    id: str
    document: str
    title: str
    position: int
    start: int
    end: int
    text: str
    source: str = ""
    score: float = 0.0
    page: int | None = None
    section: str = ""
    columns: tuple[str, ...] = ()
    recognised: bool = False
    apart: str = ""
    DERIVED: ClassVar = ("name",)

    @property
    def name(self) -> str:
        """Return the title as citations show it: "Report", or "Report (north/report.md)"."""
        return cited_name(self.title, self.apart)

    @property
    def place(self) -> str:
        """Return where in its document the passage is: "page 3, passage 5, characters 80–120"."""
        scanned = " (recognised)" if self.recognised else ""
        paged = f"page {self.page}{scanned}, " if self.page is not None else ""
        return f"{paged}passage {self.position + 1}, characters {self.start}–{self.end}"

    @property
    def heading(self) -> str:
        """Return the title, followed by the section where there is one: "Report > Methods"."""
        return f"{self.title} > {self.section}" if self.section else self.title

    @property
    def cited(self) -> str:
        """Return the name, followed by the section where there is one."""
        return f"{self.name} > {self.section}" if self.section else self.name


#: What an edge says, with the reason that its step has.
_EDGE_WORDS = {
    "seed": "found by {}",
    "given": "found without a path",
    "gone": "no longer in the corpus",
    "SHARES_ENTITY": "both mention {}",
    "MENTIONS": "both mention {}",
    "SHARES_KEYWORD": "share the words {}",
    "SIMILAR_ST": "say nearly the same ({})",
    "SIMILAR_MDR": "say nearly the same ({})",
    "NEXT": "next in the document",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a reasoning path: the passage reached, the edge taken, and the score.

    `edge` is the relationship type that led here, `seed` for the first step; `reason` is what the
    two passages share. `match` is how well the passage fits the evidence expected, `inherited` the
    part of the score passed on by the step before. The learned agent sets `judged`, from 0 to 1.
    """

    passage: str
    edge: str
    match: float
    inherited: float = 0.0
    reason: str = ""
    judged: float | None = None

    @property
    def score(self) -> float:
        """Return the score for ranking: the judgement, or the sum of match and inherited score."""
        return self.match + self.inherited if self.judged is None else self.judged

    @property
    def why(self) -> str:
        """Return in words what led here: "both mention Sula Grey", "found by words, title"."""
        reason = self.reason.replace(" + ", ", ")
        words = _EDGE_WORDS.get(self.edge)
        if words is None:
            return f"{self.edge.lower().replace('_', ' ')} {reason}".rstrip()
        return words.format(reason) if reason else words.partition("{")[0].rstrip(" (:")


@dataclass(frozen=True, slots=True)
class ReasoningPath:
    """Passages visited one after another, starting at a seed (KGP, Algorithm 1)."""

    steps: tuple[Step, ...]

    @property
    def last(self) -> str:
        """Return the id of the last passage of the path."""
        return self.steps[-1].passage

    @property
    def judged(self) -> float | None:
        """Return how likely the last passage belongs to the question, where the agent judges it."""
        return self.steps[-1].judged

    def then(self, step: Step) -> Self:
        """Return this path with one more step."""
        return replace(self, steps=(*self.steps, step))


@dataclass(frozen=True, slots=True)
class NextEvidence:
    """The evidence that an agent expects next on a path: words, a vector, or both (KGP, Eq. 1).

    `space` is the vector's: `st` (the corpus's sentence encoder) or `mdr`. `draw` asks for random
    neighbours: the same draw returns the same ones.
    """

    text: str = ""
    vector: Sequence[float] | None = None
    space: str = "st"
    draw: str = ""


def _html(result: "Answer | Retrieval") -> str:
    """Return what a notebook shows of a result: what was said, the notes, and ten passages."""
    from markupsafe import Markup  # puts texts in escaped

    said = [result.summary] if isinstance(result, Answer) else []
    lines = [Markup("<p>{}</p>").format(line) for line in (*said, *result.notes)]
    row = Markup("<tr><td>{}</td><td>{}</td><td>{:.2f}</td><td>{}</td></tr>")
    passages = enumerate(result.passages[:10], 1)
    rows = [row.format(number, p.cited, p.score, p.text[:400]) for number, p in passages]
    return Markup("").join([*lines, Markup("<table>"), *rows, Markup("</table>")])


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The passages retrieved for one question, best first, and the paths that led to them.

    `settings` are those of the retrieval, by name; `notes` warn the user; `sentences` are those of
    an overview.
    """

    question: Question
    passages: tuple[Passage, ...]
    paths: tuple[ReasoningPath, ...] = ()
    seconds: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sentences: tuple[SupportingSentence, ...] = ()
    _repr_html_ = _html


@dataclass(frozen=True, slots=True)
class Trace:
    """A stored traversal, `asked_at` in ISO form; `left` of its `passages` are in the corpus."""

    id: str
    corpus: str
    question: str
    agent: str
    asked_at: str
    answer: str
    passages: int
    left: int


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """One part of a question, as a question, with its answer and the ids of its passages.

    `said` is what the whole answer says of it: the text, or that there is none.
    """

    question: str
    text: str
    tier: Tier
    passages: tuple[str, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with everything needed to check it.

    `type` is the kind of question assumed; `structural` is the answer from pages and tables, where
    that is the answer, or where none is likely. `stated` is true where `text` is given without more
    ado; else see `tier`. `reading` is what the offline reader found, `statements` are the checked
    sentences of a language model's answer, `overruled` those that another answer was given instead
    of, and `usage` is what the model's calls took. `notes` are warnings for the user. `queries` can
    be run again in Browser; `trace` is the id of the traversal stored in the graph. `settings` are
    those of the retrieval. `missing` is what the question names and no document mentions; of a
    question of several `parts` each has its answer.
    """

    question: str
    corpus: str
    agent: str
    text: str = ""
    sentences: tuple[SupportingSentence, ...] = ()
    passages: tuple[Passage, ...] = ()
    paths: tuple[ReasoningPath, ...] = ()
    seconds: float = 0.0
    browser: str | None = None
    stated: bool = False
    type: TypeDecision = _CONTENT
    structural: StructuralAnswer | None = None
    reading: Reading | None = None
    statements: tuple[Statement, ...] = ()
    overruled: tuple[Statement, ...] = ()
    usage: Usage | None = None
    notes: tuple[str, ...] = ()
    queries: tuple[ShownQuery, ...] = ()
    trace: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    parts: tuple[AnswerPart, ...] = ()
    #: Properties that stand in JSON beside the fields.
    DERIVED: ClassVar = ("tier", "by", "probably")

    @property
    def tier(self) -> Tier:
        """Return how the answer is given, by its probability of being right.

        A `stated` one stands alone (nine in ten are right), a `probable` one has its percentage
        beside it; of `evidence` the sentences that say most, or a table, are shown.
        """
        structural, reading = self.structural, self.reading
        if self.stated and self.text:
            return "stated"
        if structural is not None and (self.from_structure or not self.text):
            return structural.tier
        if not self.text:
            return "none"
        if self.statements:
            return "probable"
        if reading is None:
            return "evidence"
        least = _PROBABLE_YES if reading.kind in ("yes", "no") else PROBABLE
        return "probable" if reading.confidence >= least else "evidence"

    @property
    def confidence(self) -> float | None:
        """Return the calibrated probability of the answer's being right; a model's has none."""
        if self.from_structure and self.structural is not None:
            return self.structural.confidence
        if self.reading is None or self.statements or self.is_overview:
            return None
        return self.reading.confidence

    @property
    def probably(self) -> str:
        """Return what is said behind a probable answer: "probably, 85 %"; else nothing."""
        sure = self.confidence
        return "" if self.tier != "probable" or sure is None else f"probably, {100 * sure:.0f} %"

    @property
    def heading(self) -> str:
        """Return in words how the answer is given, as it stands above what is shown."""
        # That there is no such page or table is an answer, too.
        told = self.tier == "none" and self.from_structure and self.text
        if told or self.tier in ("stated", "probable"):
            return "Answer"
        if not self.text and self.missing:
            return f"No document mentions {' or '.join(self.missing)}"
        if self.is_overview:
            return "In short"
        if self.tier == "none":
            there = self.passages or self.structural
            return "Not in these documents" if there else "Nothing in the corpus matches"
        return "No sure answer" if self.said or not self.text else "The sentences that say most"

    @property
    def said(self) -> str:
        """Return the text that is shown as the answer; nothing where only evidence is shown."""
        given = self.tier in ("stated", "probable") or self.from_structure or self.statements
        return self.text if given or self.is_overview else ""

    @property
    def is_overview(self) -> bool:
        """Return whether it tells what documents are about: their names, or one's sections."""
        return self.by == "reader" and self.reading is not None and self.reading.kind == "overview"

    @property
    def summary(self) -> str:
        """Return the answer in a line, with how sure it is where that is not beyond doubt."""
        if not self.text:
            return self.heading
        if self.tier == "evidence" and self.reading is not None and not self.is_overview:
            return f"No sure answer (perhaps {self.text})"
        return f"{self.text} ({self.probably})" if self.probably else self.text

    @property
    def from_structure(self) -> bool:
        """Return whether pages and tables gave the answer, as the pipeline decided."""
        structural = self.structural
        is_asked = self.type.type == "structural"
        return structural is not None and (is_asked or self.text == structural.text != "")

    @property
    def by(self) -> str:
        """Return who answered: `structure`, `model`, `reader`, `sentence`, or empty: nobody."""
        if self.from_structure:
            return "structure"
        # A reader or a model that reports finding nothing has answered too.
        if self.statements:
            return "model"
        if self.reading is not None:
            return "reader"
        if self.text:
            return "sentence"
        return "model" if self.usage is not None and self.passages else ""

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Return the ids of the passages that support the answer."""
        if self.from_structure:
            return ()
        cited = [sentence.passage for sentence in self.sentences[:1] if self.text]
        if self.statements:
            cited = [p for s in self.statements if s.carried for p in s.passages]
        elif self.reading is not None:
            cited = [span.passage for span in self.reading.spans]
        return tuple(dict.fromkeys(cited))

    @property
    def shown_sentences(self) -> tuple[SupportingSentence, ...]:
        """Return the sentence with the answer; without a probable one, those that say most."""
        if self.from_structure:
            return ()
        return self.sentences if self.tier == "evidence" else self.sentences[: len(self.parts) or 1]

    _repr_html_ = _html


@dataclass(frozen=True, slots=True)
class InstallReport:
    """The result of an installation: the procedures that the server has, and what is to be done."""

    procedures: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Transfer:
    """What an export wrote, or an import read; `bytes` is the size of the file."""

    name: str
    kind: Literal["corpus", "graph"]
    file: str
    nodes: int
    relationships: int
    bytes: int
    seconds: float
