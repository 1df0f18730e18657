"""Read a structural question once, and answer it by a look-up, a plan over a table, or a model.

KGP answers a question about structure by fetching the page or table that it names (Wang et al.,
AAAI 2024, "LLM-based KG traversal agent": the content of a page is its passages, that of a table
its Markdown). Here a question is first read as one of a few look-ups, so that most need no language
model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from kgp_neo4j.corpus.tables.by_model import answered_by_model, choose_by_model
from kgp_neo4j.corpus.tables.choose import choose
from kgp_neo4j.corpus.tables.decide import StructuralReading, Write
from kgp_neo4j.corpus.tables.look_up import (
    Context,
    each,
    joined,
    nothing,
    on_pages,
    plural,
    unsure,
)
from kgp_neo4j.corpus.tables.outline import Library, TableOutline
from kgp_neo4j.corpus.tables.pages import compare, look_up_mentions, look_up_page
from kgp_neo4j.corpus.tables.questions.answer_table import answer_from_table
from kgp_neo4j.corpus.tables.references import read_references
from kgp_neo4j.corpus.tables.resolving import by_words, resolve, stems
from kgp_neo4j.corpus.tables.signs import decided
from kgp_neo4j.corpus.tables.tables import (
    cell_by_names,
    count,
    look_up_cells,
    look_up_column,
    look_up_table,
    look_up_tables,
    markdown_of,
)
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.tables import StructuralAnswer

__all__ = ["Reading"]

_LOOK_UPS: Mapping[str, Callable[[Context], StructuralAnswer | None]] = {
    "page": look_up_page,
    "table": look_up_table,
    "column": look_up_column,
    "row": look_up_cells,
    "cell": look_up_cells,
    "tables": look_up_tables,
    "mentions": look_up_mentions,
    "count": count,
    "compare": compare,
}
#: Look-ups that return a page or table as it is: a language model may do more with it.
_WHOLE = (("page", "text"), ("page", ""), ("table", "rows"), ("compare", ""))
_MOST_TABLES = 4
#: "Which company", "what kind": the two words that may name a column.
_KIND_ASKED = re.compile(r"\b(?:which|what|whose)\s+([^\W\d]+)(?:\s+([^\W\d]+))?", re.IGNORECASE)


@dataclass(slots=True)
class Reading(StructuralReading):
    """A reading by words, and by the model where one was asked."""

    context: Context
    chosen: Context | None = None
    asked: bool = False

    @classmethod
    def of(cls, database: Database, corpus: str, question: str) -> Reading:
        """Read a question by its words: what it refers to, its look-up, and its type."""
        library = Library(database, corpus)
        references = read_references(question, library.documents)
        context = resolve(library, references, choose(references))
        return cls(decided(context), context)

    def ask(self, write: Write) -> None:
        """Let a language model choose the look-up and the type of the question."""
        self.asked = True
        choice = choose_by_model(self.context, write)
        if choice is None:
            reason = f"the model's reply could not be used; {self.decision.reason}"
            self.decision = replace(self.decision, reason=reason)
        else:
            self.decision, self.chosen = choice

    def answer(self, write: Write | None = None) -> StructuralAnswer:
        """Answer by the look-up that the model chose; where that gives nothing, by the
        words' one.
        """
        if write is not None and not self.asked:
            self.ask(write)
        context = self.chosen or self.context
        result = _answered(context, write)
        if self.chosen is not None and not (result.found and result.sure):
            other = _answered(self.context, write)
            if not result.text or (other.found and other.sure):
                context, result = self.context, other
        if notes := "; ".join(dict.fromkeys(context.notes)):
            reading = f"{result.reading} ({notes})" if result.reading else notes
            result = replace(result, reading=reading)
        shown = {query.name for query in result.queries}
        own = tuple(query for query in context.library.queries if query.name not in shown)
        return replace(result, queries=(*result.queries, *own))


def _answered(context: Context, write: Write | None) -> StructuralAnswer:
    look = context.look_up
    if context.missing:
        return nothing(" ".join(dict.fromkeys(context.missing)))
    if not context.documents:
        return nothing("The corpus has no pages and no tables.")
    if context.doubt and context.references.tables:
        return unsure(context.doubt)
    if look.kind != "question" and (result := _LOOK_UPS[look.kind](context)) is not None:
        if write and not context.by_model and (look.kind, look.part) in _WHOLE and result.found:
            return answered_by_model(context, write, result) or result
        return result
    if context.tables:
        return _from_tables(context, context.tables, write)
    if context.pages:
        return _from_pages(context, write)
    return _from_any_table(context, write)


def _from_tables(
    context: Context, tables: list[TableOutline], write: Write | None
) -> StructuralAnswer:
    """Answer a question within one table by the table parser, then by a model where there
    is one.
    """
    if len(tables) > 1 and not context.named:
        names = joined([table.called for table in tables[:9]])
        return unsure(f"several tables fit: {names}; name the document")

    def one(table: TableOutline) -> StructuralAnswer:
        result = cell_by_names(context, table) or answer_from_table(
            context.library.database, table.id, context.references.rest
        )
        if not result.sure and write:
            result = answered_by_model(context, write, result, tables=[table]) or result
        if not result.sure:
            markdown, cut = markdown_of(context, table)
            result = replace(result, markdown=f"{markdown}\n\n({cut})" if cut else markdown)
        text = f"{table.called}: {result.text}" if len(tables) > 1 else result.text
        return replace(result, text=text, reading=f"in {table.called}: {result.reading}")

    return each(context, tables[:_MOST_TABLES], one)


def _from_pages(context: Context, write: Write | None) -> StructuralAnswer:
    """Answer a free question about pages: by their only table, by a model, or by showing them."""
    tables = on_pages(context, context.library.tables([d for d, _ in context.pages]))
    if len(tables) == 1:
        result = _from_tables(context, tables, None)
        if result.sure:
            return result
    context.look_up = replace(context.look_up, part="text")
    shown = look_up_page(context)
    if write and shown.found and (answer := answered_by_model(context, write, shown)):
        return answer
    doubt = "the page is shown; to answer this from its text needs a language model"
    return replace(shown, text="", values=(), sure=False, confidence=0.0, doubt=doubt)


def _from_any_table(context: Context, write: Write | None) -> StructuralAnswer:
    """Find the table that the question's words fit, where it names none, and answer from it."""
    every = context.library.tables(context.documents)
    tables = _with_kind_asked(context.references.rest, every)
    if len(tables) > 1:
        tables = by_words(context.library, context.references.rest, tables, only=True)
    if len(tables) == 1:
        return _from_tables(context, tables, write)
    many = plural(len(every), "table")
    return unsure(f"the question names no page or table that could be told ({many} there)")


def _with_kind_asked(question: str, tables: list[TableOutline]) -> list[TableOutline]:
    """Return the tables with a column for the kind asked for ("which company"), else all.

    Another table may share more words with the question, and give a wrong answer.
    """
    match = _KIND_ASKED.search(question)
    kinds = stems(" ".join(filter(None, match.groups()))) if match else set()
    fitting = [t for t in tables if kinds & stems(" ".join(c.header for c in t.columns))]
    return fitting or tables
