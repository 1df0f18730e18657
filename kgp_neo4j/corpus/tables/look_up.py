"""The look-ups in pages and tables, and the shared parts of their answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

from kgp_neo4j.corpus.tables.outline import DocumentOutline, Library, TableOutline
from kgp_neo4j.corpus.tables.references import References
from kgp_neo4j.types.tables import Citation, StructuralAnswer


class Kind(NamedTuple):
    """A kind of look-up: what it gives, the parts of that (the first is the default), its needs."""

    gives: str
    parts: tuple[str, ...]
    needs: tuple[str, ...] = ()


#: The kinds of look-ups, as a language model is told of them.
KINDS = {
    "page": Kind("a part of pages", ("text", "header", "footer", "label", "headings"), ("pages",)),
    "table": Kind("a part of tables, or whether there is such a table (on those pages)",
                  ("rows", "columns", "caption", "pages", "exists"), ("tables",)),
    "column": Kind("the values or the name of a column of a table",
                   ("values", "name"), ("tables", "columns")),
    "row": Kind("a row of a table", ("cells",), ("tables", "rows")),
    "cell": Kind("the cell of a row and a column of a table",
                 ("text",), ("tables", "rows", "columns")),
    "tables": Kind("which tables there are in documents or on pages; `phrase` is what they are "
                   "about, `columns` a column that they have",
                   ("names", "captions", "pages", "documents", "exists")),
    "mentions": Kind("the pages that mention `phrase`",
                     ("pages", "first", "last", "exists"), ("phrase",)),
    "count": Kind("how many there are: in documents, on pages, in tables, or times that `phrase` "
                  "is mentioned; `each` (page, table, document) and `pick` (most, fewest) give the "
                  "one with most or fewest",
                  ("pages", "tables", "rows", "columns", "cells", "times")),
    "compare": Kind("what is different and what in common: two pages, two tables, or a page and a "
                    "table", ("all", "columns")),
    "question": Kind("anything else about the pages or tables named: reckoning with a table's "
                     "cells, or what must be read out of a text, summaries included", ("all",)),
}  # fmt: skip
T = TypeVar("T")
#: Documents that are answered for at most where a question names none.
_MOST_DOCUMENTS = 10


@dataclass(frozen=True, slots=True)
class LookUp:
    """One look-up: its kind, the part of it that is asked for, and its restrictions.

    `phrase` is the text to find (mentions) or the words of a caption (tables), `row` and `column`
    are names. With `each` and `pick` a count gives the `page`, `table` or `document` with the
    `most` or `fewest`.
    """

    kind: str
    part: str = ""
    phrase: str = ""
    row: str = ""
    column: str = ""
    each: str = ""
    pick: Literal["", "most", "fewest"] = ""


@dataclass(slots=True)
class Context:
    """A question: its references, its look-up, and the documents, pages and tables that it means.

    `pages` and `tables` have an entry for each one named, in the question's order; where no
    document was `named`, one for each document that has it. `missing` lists what does not exist,
    `notes` how a reference was resolved, `doubt` why a table is ambiguous. `figure` is that over
    the rows of a table which is not named.
    """

    library: Library
    references: References
    look_up: LookUp
    documents: tuple[DocumentOutline, ...]
    named: bool
    pages: list[tuple[DocumentOutline, tuple[int, ...]]] = field(default_factory=list)
    tables: list[TableOutline] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    doubt: str = ""
    figure: StructuralAnswer | None = None

    @property
    def places(self) -> set[tuple[str, int]]:
        """Return the pages that a question names, as ids of documents with numbers."""
        return {(document.id, number) for document, numbers in self.pages for number in numbers}

    @property
    def where(self) -> str:
        """Return the names of few documents, else "the corpus"."""
        few = len(self.documents) <= 3
        return joined([document.name for document in self.documents]) if few else "the corpus"

    @property
    def paged(self) -> list[DocumentOutline]:
        """Return the documents in question that have pages."""
        return [document for document in self.documents if document.pages]

    def on_pages(self, tables: Sequence[TableOutline]) -> list[TableOutline]:
        """Return those of the tables that are on the pages that a question names."""
        on = self.places
        return [table for table in tables if any((table.document.id, n) in on for n in table.pages)]


def answer(
    text: str, values: Sequence[object] = (), citations: Sequence[Citation] = (), **more: Any
) -> StructuralAnswer:
    """Return a sure answer."""
    return StructuralAnswer(text, tuple(map(str, values)), citations=tuple(citations), **more)


def nothing(text: str) -> StructuralAnswer:
    """Return the answer that the thing asked for does not exist."""
    return StructuralAnswer(text=text, found=False)


def unsure(doubt: str) -> StructuralAnswer:
    """Return the answer that claims nothing, for a reason."""
    return StructuralAnswer(text="", sure=False, confidence=0.0, doubt=doubt)


def each(
    context: Context, items: Sequence[T], make: Callable[[T], StructuralAnswer]
) -> StructuralAnswer:
    """Answer for each of several documents, pages or tables, one after another."""
    if len(items) > _MOST_DOCUMENTS and not context.named:
        return unsure(f"{len(items)} documents fit; name the one that is meant")
    parts = [make(item) for item in items]
    parts = [part for part in parts if part.found] or parts
    return replace(
        parts[0],
        text="\n".join(part.text for part in parts if part.text),
        values=tuple(value for part in parts for value in part.values),
        sure=all(part.sure for part in parts),
        doubt="; ".join(part.doubt for part in parts if part.doubt),
        confidence=min(part.confidence for part in parts),
        citations=tuple(citation for part in parts for citation in part.citations),
        markdown="\n\n".join(part.markdown for part in parts if part.markdown),
    )


def plural(count: int, noun: str) -> str:
    """Return "1 table", "2 tables"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def joined(items: Sequence[object]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    *texts, last = map(str, items)
    return f"{', '.join(texts)} and {last}" if texts else last
