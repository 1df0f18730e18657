"""From a question to an answer taken from pages and tables.

KGP answers a question about structure by fetching the page or table that it names (Wang et al.,
AAAI 2024, "LLM-based KG traversal agent": the content of a page is its passages, that of a table
its Markdown). Here the question is read as one of some forty forms first, so that most need no
language model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from kgp_neo4j.database import Database
from kgp_neo4j.structure import (
    about_cells,
    about_pages,
    about_tables,
    among_tables,
    compare,
    mentions,
)
from kgp_neo4j.structure.answers import Context, joined, nothing, plural, table_of
from kgp_neo4j.structure.asked import Asked
from kgp_neo4j.structure.forms import asked
from kgp_neo4j.structure.language import content
from kgp_neo4j.structure.model import answered_by_model
from kgp_neo4j.structure.outline import Library, TableOutline
from kgp_neo4j.structure.references import read_references
from kgp_neo4j.structure.resolving import by_words, resolve, stem
from kgp_neo4j.structures import StructuralAnswer

__all__ = ["Write", "answer_structural"]

#: A language model: a prompt in, its reply out.
Write = Callable[[str], str]
#: "Which company", "what kind": the two words that may name a column.
_KIND_ASKED = re.compile(r"\b(?:which|what|whose)\s+([^\W\d]+)(?:\s+([^\W\d]+))?", re.IGNORECASE)
Make = Callable[[Context], StructuralAnswer | None]

_FORMS: Mapping[str, Make] = {
    "count_pages": about_pages.count_pages,
    "content_of_page": about_pages.content_of_page,
    "header_of_page": about_pages.margin_of_page,
    "footer_of_page": about_pages.margin_of_page,
    "label_of_page": about_pages.margin_of_page,
    "first_of_page": about_pages.part_of_page,
    "last_of_page": about_pages.part_of_page,
    "headings_of_page": about_pages.part_of_page,
    "headings_of_document": about_pages.headings_of_document,
    "page_by_word": about_pages.extreme_page,
    "page_by_table": about_pages.extreme_page,
    "document_by_page": about_pages.extreme_page,
    "document_by_table": about_pages.extreme_page,
    "pages_mentioning": mentions.pages_mentioning,
    "first_page_mentioning": mentions.pages_mentioning,
    "last_page_mentioning": mentions.pages_mentioning,
    "count_times": mentions.count_times,
    "is_on_page": mentions.is_on_page,
    "count_tables": among_tables.count_tables,
    "list_tables": among_tables.list_tables,
    "documents_with_table": among_tables.documents_with_table,
    "tables_per_page": among_tables.tables_per_page,
    "is_there_such_a_table": among_tables.is_there_such_a_table,
    "is_there_a_table": among_tables.is_there_a_table,
    "captions": among_tables.captions,
    "tables_with_column": among_tables.tables_with_column,
    "tables_about": among_tables.tables_about,
    "pages_with_tables": among_tables.pages_with_tables,
    "table_by_row": among_tables.extreme_table,
    "table_by_column": among_tables.extreme_table,
    "table_by_cell": among_tables.extreme_table,
    "table_by_page": among_tables.extreme_table,
    "count_rows": about_tables.count_of_table,
    "count_columns": about_tables.count_of_table,
    "count_cells": about_tables.count_of_table,
    "columns": about_tables.columns_of,
    "name_of_column": about_cells.name_of_column,
    "column_of_number": about_cells.name_of_column,
    "type_of_column": about_cells.name_of_column,
    "column": about_cells.column_values,
    "caption": about_tables.caption,
    "cell": about_cells.cells,
    "row": about_cells.cells,
    "content_of_table": about_tables.content_of_table,
    "pages_of_table": about_tables.pages_of_table,
    "is_table_on_page": about_tables.is_table_on_page,
    "around_table": about_tables.around_table,
    "common_columns": compare.compare_tables,
    "different_columns": compare.compare_tables,
    "common_rows": compare.compare_tables,
    "compare_tables": compare.compare_tables,
    "compare_pages": compare.compare_pages,
    "compare_page_and_table": compare.compare_page_and_table,
} | {
    f"count_{unit}s_of_page": about_pages.count_of_page
    for unit in "word character letter sentence paragraph line heading section".split()
}
#: Forms whose answer is a page or table as it is: a language model may do more with it.
_CONTENT = frozenset(("content_of_page", "content_of_table", "compare_pages",
                      "compare_page_and_table", "compare_tables"))  # fmt: skip


def answer_structural(
    database: Database, corpus: str, question: str, write: Write | None = None
) -> StructuralAnswer:
    """Answer a question about pages and tables of a corpus, by read-only queries that are shown.

    A page or table that does not exist is said not to, with what there is instead (`found` is
    false). Where nothing certain can be said, `sure` is false and `doubt` says why; the page or
    table meant, if any, is in `markdown`. `write` is a language model that answers from fetched
    pages and tables what no query does; without one such questions stay unsure.
    """
    library = Library(database, corpus)
    made = read_references(question, library.documents)
    found = resolve(library, made)
    context = Context(library, made, found, asked(made))
    result = _answered(context, write)
    notes = "; ".join(dict.fromkeys(found.notes))
    if notes:
        result = replace(result, reading=f"{result.reading} ({notes})" if result.reading else notes)
    shown = list(dict.fromkeys(query.name for query in result.queries))
    own = tuple(query for query in library.queries if query.name not in shown)
    return replace(result, queries=(*result.queries, *own))


def _answered(context: Context, write: Write | None) -> StructuralAnswer:
    found, form = context.found, context.asked.form
    if found.missing:
        return nothing(" ".join(dict.fromkeys(found.missing)))
    if not found.documents:
        return nothing("The corpus has no pages and no tables.")
    if found.doubt and context.made.tables:
        return _unsure(found.doubt)
    if form in _FORMS:
        result = _FORMS[form](context)
        if result is not None:
            if write and form in _CONTENT and result.found:
                return answered_by_model(context, write, result) or result
            return result
        context.asked = Asked("table")
    if context.asked.form == "table" and found.tables:
        return _from_table(context, found.tables, write)
    if context.asked.form == "page" and found.pages:
        return _from_page(context, write)
    return _from_any_table(context, write)


def _unsure(doubt: str, markdown: str = "", reading: str = "") -> StructuralAnswer:
    return StructuralAnswer(
        text="", sure=False, confidence=0.0, doubt=doubt, markdown=markdown, reading=reading
    )


def _from_table(
    context: Context, tables: list[TableOutline], write: Write | None
) -> StructuralAnswer:
    """Hand a question within one table to the table parser, then to a model where there is one."""
    from kgp_neo4j.structure.table_questions import answer_from_table

    if len(tables) > 1 and not context.found.named:
        names = joined([table_of(context, table) for table in tables[:9]])
        return _unsure(f"several tables fit: {names}; name the document")
    results = []
    for table in tables[:4]:
        result = about_cells.cell_by_names(context, table) or answer_from_table(
            context.library.database, table.id, context.made.rest
        )
        if not result.sure and write:
            result = answered_by_model(context, write, result, tables=[table]) or result
        if not result.markdown and not result.sure:
            markdown, cut = about_tables.markdown_of(context, table)
            result = replace(result, markdown=f"{markdown}\n\n({cut})" if cut else markdown)
        results.append(replace(result, reading=f"in {table_of(context, table)}: {result.reading}"))
    if len(results) == 1:
        return results[0]
    return replace(
        results[0],
        text="\n".join(
            f"{table_of(context, table)}: {result.text}"
            for table, result in zip(tables, results, strict=False)
        ),
        values=tuple(value for result in results for value in result.values),
        sure=all(result.sure for result in results),
        citations=tuple(c for result in results for c in result.citations),
        queries=tuple(q for result in results for q in result.queries),
    )


def _from_page(context: Context, write: Write | None) -> StructuralAnswer:
    """Answer a free question about a page: by its only table, by a model, or by showing it."""
    on = {(d.id, number) for d, numbers in context.found.pages for number in numbers}
    tables = [
        table
        for table in context.library.tables([d for d, _ in context.found.pages])
        if any((table.document, page) in on for page in table.pages)
    ]
    if len(tables) == 1:
        result = _from_table(context, tables, None)
        if result.sure:
            return result
    shown = about_pages.content_of_page(context)
    if write and shown.found and (said := answered_by_model(context, write, shown)):
        return said
    return replace(
        shown,
        text="",
        values=(),
        sure=False,
        confidence=0.0,
        doubt="the page is shown; to answer this from its text needs a language model",
    )


def _from_any_table(context: Context, write: Write | None) -> StructuralAnswer:
    """Look for the table that the question's words fit, where it names none."""
    tables = _with_kind_asked(context.made.rest, context.library.tables(context.found.documents))
    if len(tables) > 1:
        tables = by_words(context.library, context.made.rest, tables, only=True)
    if len(tables) == 1:
        return _from_table(context, tables, write)
    many = plural(len(context.library.tables(context.found.documents)), "table")
    return _unsure(f"the question names no page or table that could be told ({many} there)")


def _with_kind_asked(question: str, tables: list[TableOutline]) -> list[TableOutline]:
    """Return the tables that have a column of what is asked for ("which company"), else all.

    Another table may share more words with the question, and would be answered from wrongly.
    """
    found = _KIND_ASKED.search(question)
    kinds = {stem(word.lower()) for word in found.groups() if word} if found else set()
    fitting = [
        table
        for table in tables
        if kinds & {stem(word) for column in table.columns for word in content(column.header)}
    ]
    return fitting or tables
