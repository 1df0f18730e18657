"""The look-ups in pages and tables, and the shared parts of their answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from kgp_neo4j.corpus.tables.outline import DocumentOutline, Library, TableOutline
from kgp_neo4j.corpus.tables.references import References
from kgp_neo4j.corpus.tables.resolving import Resolved
from kgp_neo4j.types.tables import Citation, StructuralAnswer

__all__ = [
    "KINDS",
    "PARTS",
    "Context",
    "Kind",
    "LookUp",
    "answer",
    "each",
    "joined",
    "nothing",
    "on_pages",
    "paged",
    "places",
    "plural",
    "table_of",
]

Kind = Literal[
    "page", "table", "column", "row", "cell", "tables", "mentions", "count", "compare", "question"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: The parts that a look-up of each kind can return; the first is the default.
PARTS: dict[Kind, tuple[str, ...]] = {
    "page": ("text", "header", "footer", "label", "headings"),
    "table": ("rows", "columns", "caption", "pages", "exists"),
    "column": ("values", "name"),
    "row": ("cells",),
    "cell": ("text",),
    "tables": ("names", "captions", "pages", "documents", "exists"),
    "mentions": ("pages", "first", "last", "exists"),
    "count": ("pages", "tables", "rows", "columns", "cells", "times"),
    "compare": ("all", "columns"),
    "question": ("all",),
}


@dataclass(frozen=True, slots=True)
class LookUp:
    """One look-up: its kind, the part of it that is asked for, and its restrictions.

    `phrase` is the text to find (mentions) or the words of a caption (tables), `row` and `column`
    are names; the pages, tables, and the places of rows and columns are in the `References`. `each`
    and `pick` turn a count into one for each `page`, `table` or `document`, of which those with the
    `most` or `fewest` are returned.
    """

    kind: Kind
    part: str = ""
    phrase: str = ""
    row: str = ""
    column: str = ""
    each: Literal["", "page", "table", "document"] = ""
    pick: Literal["", "most", "fewest"] = ""


T = TypeVar("T")
#: Documents answered for at most where a question names none.
MOST_DOCUMENTS = 10


@dataclass(slots=True)
class Context:
    """A question with its references, those of them that exist, and its look-up.

    `by_model` is true where a language model chose the look-up.
    """

    library: Library
    made: References
    found: Resolved
    look_up: LookUp
    by_model: bool = False


def answer(
    text: str,
    values: Sequence[object] = (),
    citations: Sequence[Citation] = (),
    *,
    reading: str = "",
    markdown: str = "",
) -> StructuralAnswer:
    """Return a sure answer."""
    return StructuralAnswer(
        text=text,
        values=tuple(str(value) for value in values),
        citations=tuple(citations),
        reading=reading,
        markdown=markdown,
    )


def nothing(text: str, *, reading: str = "") -> StructuralAnswer:
    """Return the answer that the thing asked for does not exist."""
    return StructuralAnswer(text=text, found=False, reading=reading)


def each(
    context: Context, items: Sequence[T], make: Callable[[T], StructuralAnswer]
) -> StructuralAnswer:
    """Answer for each of several documents, pages or tables, one after another.

    Where no document was named and many fit, the answer claims nothing and the doubt gives the
    reason.
    """
    if len(items) > MOST_DOCUMENTS and not context.found.named:
        return StructuralAnswer(
            text="",
            sure=False,
            confidence=0.0,
            doubt=f"{len(items)} documents fit; name the one that is meant",
        )
    parts = [make(item) for item in items]
    parts = [part for part in parts if part.found] or parts
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        text="\n".join(part.text for part in parts if part.text),
        values=tuple(value for part in parts for value in part.values),
        sure=all(part.sure for part in parts),
        found=any(part.found for part in parts),
        doubt="; ".join(part.doubt for part in parts if part.doubt),
        confidence=min(part.confidence for part in parts),
        citations=tuple(citation for part in parts for citation in part.citations),
        markdown="\n\n".join(part.markdown for part in parts if part.markdown),
        queries=tuple(query for part in parts for query in part.queries),
    )


def plural(count: int, noun: str) -> str:
    """Return "1 table", "2 tables"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def joined(items: Sequence[object]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def table_of(context: Context, table: TableOutline) -> str:
    """Return "Table 2-1 of Row permissions"."""
    return f"{table.name} of {context.library.document(table.document).title}"


def places(context: Context) -> set[tuple[str, int]]:
    """Return the pages that a question names, as ids of documents with numbers."""
    return {(d.id, number) for d, numbers in context.found.pages for number in numbers}


def on_pages(context: Context, tables: Sequence[TableOutline]) -> list[TableOutline]:
    """Return those of the tables that are on the pages that a question names."""
    on = places(context)
    return [table for table in tables if any((table.document, n) in on for n in table.pages)]


def paged(context: Context) -> list[DocumentOutline]:
    """Return the documents in question that have pages."""
    return [document for document in context.found.documents if document.pages]
