"""Read a structural question once, and answer it by a look-up, a plan over a table, or a model.

KGP answers a question about structure by fetching the page or table that it names (Wang et al.,
AAAI 2024, "LLM-based KG traversal agent"). Here a question is first read as one of a few look-ups;
most need no language model.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from kgp_neo4j.corpus.tables import look_up, pages, tables
from kgp_neo4j.corpus.tables.by_model import answered_by_model, choose_by_model
from kgp_neo4j.corpus.tables.choose import choose
from kgp_neo4j.corpus.tables.outline import Library, TableOutline
from kgp_neo4j.corpus.tables.questions.answer_table import answer_from_table
from kgp_neo4j.corpus.tables.questions.figures import asks_for_figure
from kgp_neo4j.corpus.tables.references import COUNT, HEAD, read_references
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.language import Write
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

_LOOK_UPS: dict[str, Callable[[look_up.Context], StructuralAnswer | None]] = {
    "page": pages.look_up,
    "table": tables.look_up,
    **dict.fromkeys(("column", "row", "cell"), tables.look_up_part),
    "tables": tables.look_up_list,
    "mentions": pages.look_up_mentions,
    "count": tables.count,
    "compare": pages.compare,
}
#: Tables that a question may be answered from, one after another.
_MOST_ANSWERED = 4


class Reading:
    """A question read once, by its words or a model; `decision` says if it is about structure."""

    def __init__(self, database: Database, corpus: str, question: str) -> None:
        library = Library(database, corpus)
        references = read_references(question, library.documents)
        self._context = look_up.resolve(library, references, choose(references))
        self._chosen: look_up.Context | None = None
        self.decision = _decided(self._context)

    @cached_property
    def by_words(self) -> StructuralAnswer:
        """The answer by the question's words alone; where it is sure, no model need choose."""
        return _answered(self._context, None)

    def ask(self, write: Write) -> None:
        """Let a language model choose the look-up and the type of the question."""
        self.decision, self._chosen = choose_by_model(self._context, write, self.decision)

    def answer(self, write: Write | None = None) -> StructuralAnswer:
        """Answer from pages and tables, by read-only queries that are shown.

        A model answers from them what no look-up does; without one such questions stay unsure. If
        the look-up that it chose gives nothing, the words' one answers.
        """
        context = self._chosen or self._context
        result = _answered(context, write) if write else self.by_words
        if self._chosen is not None and not (result.found and result.sure):
            other = _answered(self._context, write)
            if not result.text or (other.found and other.sure):
                context, result = self._context, other
        if notes := "; ".join(dict.fromkeys(context.notes)):
            reading = f"{result.reading} ({notes})" if result.reading else notes
            result = replace(result, reading=reading)
        return replace(result, queries=tuple(context.library.queries))


def _answered(context: look_up.Context, write: Write | None) -> StructuralAnswer:
    look = context.look_up
    if not context.documents:
        return look_up.nothing("The corpus has no pages and no tables.")
    if context.missing:
        return look_up.nothing(" ".join(dict.fromkeys(context.missing)))
    if context.doubt and context.references.tables:
        return look_up.unsure(context.doubt)
    if look.kind != "question" and (result := _LOOK_UPS[look.kind](context)) is not None:
        # A page or table is shown as it is: a language model may do more with it.
        if write and result.markdown:
            return answered_by_model(context, write, result) or result
        return result
    if context.tables:
        return _from_tables(context, context.tables, write)
    if context.pages:
        return _from_pages(context, write)
    if context.figure is not None and context.figure.sure:
        return context.figure
    # The question names no table: the one that its words fit.
    every = context.library.tables(context.documents)
    if fitting := look_up.by_words(context.library, context.references.rest, every, only=True):
        return _from_tables(context, fitting, write)
    many = look_up.plural(len(every), "table")
    return look_up.unsure(f"the question names no page or table that could be told ({many} there)")


def _from_tables(
    context: look_up.Context, named: list[TableOutline], write: Write | None
) -> StructuralAnswer:
    """Answer a question within one table by the table parser, then by a model if there is one."""
    if len(named) > 1 and not context.named:
        names = look_up.joined([table.called for table in named[:9]])
        return look_up.unsure(f"several tables fit: {names}; name the document")

    def one(table: TableOutline) -> StructuralAnswer:
        result = answer_from_table(context.library, table, context.references.rest)
        if not result.sure:
            result = replace(result, markdown=context.library.markdown(table))
            if write:
                result = answered_by_model(context, write, result, tables=[table]) or result
        text = f"{table.called}: {result.text}" if len(named) > 1 else result.text
        return replace(result, text=text, reading=f"in {table.called}: {result.reading}")

    return look_up.each(context, named[:_MOST_ANSWERED], one)


def _from_pages(context: look_up.Context, write: Write | None) -> StructuralAnswer:
    """Answer a free question about pages: by their only table, by a model, or by showing them."""
    there = context.on_pages(context.library.tables([d for d, _ in context.pages]))
    if len(there) == 1 and (result := _from_tables(context, there, None)).sure:
        return result
    context.look_up = replace(context.look_up, part="text")
    shown = pages.look_up(context)
    if write and shown.found and (answer := answered_by_model(context, write, shown)):
        return answer
    doubt = "the page is shown; to answer this from its text needs a language model"
    return replace(shown, text="", values=(), sure=False, confidence=0.0, doubt=doubt)


def _figure(context: look_up.Context) -> StructuralAnswer | None:
    """Return the figure over a table's rows that a question asks for without naming one, if any."""
    references, library = context.references, context.library
    named = references.tables or references.pages or references.quoted
    many = sum(document.tables for document in context.documents) > _MOST_TABLES
    kind = context.look_up.kind
    if named or many or kind != "question" or not asks_for_figure(references.rest):
        return None
    fitting = look_up.by_words(library, references.rest, library.tables(context.documents))
    found = [
        replace(each, reading=f"in {table.called}: {each.reading}")
        for table in fitting[:_MOST_ANSWERED]
        if (each := answer_from_table(library, table, references.rest, strict=True)).computes
    ]
    found.sort(key=lambda each: (-each.sure, -each.confidence))
    if len({each.values for each in found if each.sure}) > 1:
        names = look_up.joined([table.called for table in fitting[:_MOST_ANSWERED]])
        return replace(look_up.unsure(f"several tables fit: {names}; name the one"), computes=True)
    return found[0] if found else None


#: Tables that are searched at most for columns that a question names.
_MOST_TABLES = 500
_DETERMINER = r"(?:the|this|that|each|every|which|what|how\s+many|all|any|list)"
_NOUN = r"(?:pages?|tables?|columns?|rows?|cells?|captions?|footers?|headings?|headers?|footnotes?)"
#: A structural noun as the head of its phrase: "on the last page", not "the table tennis club".
_SPOKEN_OF = re.compile(
    rf"(?i)\b(?:on|in|from|of|to|under|at|using|per)\s+{_DETERMINER}\s+"
    rf"(?:(?!of\b|the\b)[\w'’-]+\s+){{0,3}}?{_NOUN}\b{HEAD}"
    rf"|\b(?:which|what|how\s+many|list|all|every|each|this)\s+(?:of\s+)?(?:the\s+)?{_NOUN}\b{HEAD}"
)
_RANKING = re.compile(
    r"(?i)\b(?:\w{3,}est|most|least|maximum|minimum|average|mean|total|sum|median|how\s+m\w+|"
    r"number\s+of|percentage|more|less|top|first|last|difference|value|list|rank\w*|which|"
    r"what\s+(?:is|was|are|were))\b"
)
_CONTENT = re.compile(
    r"(?i)\b(?:why|explain|reason|purpose|meaning|opinion|think|describe|argue\w*|suggest\w*|"
    r"summar\w+|who)\b"
)


def _decided(context: look_up.Context) -> TypeDecision:
    """Return whether a question is about structure, content or both, by its words; offline."""
    references, look = context.references, context.look_up
    reason = _sign(context)
    figure = context.figure = _figure(context)
    if figure is not None and figure.sure:
        return TypeDecision("structural", reason="asks for a figure over the rows of a table")
    if not reason:
        may = figure is not None
        told = "may ask for a figure over the rows of a table" if may else "no sign of structure"
        return TypeDecision("both" if may else "content", reason=told)
    free = not references.tables or bool(_CONTENT.search(references.plain))
    both = free and look.kind == "question"
    return TypeDecision("both" if both else "structural", reason=reason)


def _sign(context: look_up.Context) -> str:
    """Return what shows that a question is about pages or tables; empty where nothing does."""
    references, look = context.references, context.look_up
    if references.pages:
        return "names a page"
    if references.tables:
        library, every = context.library, context.library.tables(context.documents)
        if any(not t.words or look_up.by_words(library, t.words, every) for t in references.tables):
            return "names a table"
    elif look.kind != "question" and (look.part != "times" or references.documents):
        return f"asks for a look-up of {look.kind}"
    if _SPOKEN_OF.search(references.plain):
        return "speaks of pages, tables, rows or columns"
    # Or it ranks or counts by columns that a table has.
    if not _RANKING.search(references.plain):
        return ""
    documents = context.library.documents
    if sum(document.tables for document in documents) > _MOST_TABLES:
        documents = tuple(references.documents)
    phrases = look_up.phrases_of(references.plain)
    counts = re.search(rf"\b(?:{COUNT})\b", references.plain, re.IGNORECASE)
    for table in context.library.tables(documents):
        norms = {column.norm for column in table.columns if len(column.norm) > 2}
        named = sorted(norm for norm in norms if norm in phrases or f"{norm}s" in phrases)
        if len(named) > 1 or (named and (references.documents or counts)):
            return f"names columns of {table.name}: {', '.join(named)}"
    return ""
