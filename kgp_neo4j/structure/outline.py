"""What pages and tables a corpus has, as far as a question needs it; every read is kept to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from kgp_neo4j.database import Database, Row
from kgp_neo4j.queries import statement
from kgp_neo4j.structures import Citation, ShownQuery

__all__ = ["ColumnOutline", "DocumentOutline", "Library", "PageText", "TableOutline"]


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """A document that has pages or tables, and how many."""

    id: str
    title: str
    source: str
    pages: int
    tables: int

    @property
    def file(self) -> str:
        """The file's name without its folders."""
        return PurePath(self.source).name


@dataclass(frozen=True, slots=True)
class ColumnOutline:
    """A column: its place from 1, its header, the header's normal form, and its type."""

    order: int
    header: str
    norm: str
    type: str

    @property
    def name(self) -> str:
        """The header, or the column's place where it has none."""
        return self.header or f"column {self.order}"


@dataclass(frozen=True, slots=True)
class TableOutline:
    """A table without its rows; `pages` are all the pages that it stands on."""

    id: str
    document: str
    order: int
    number: str
    name: str
    caption: str
    pages: tuple[int, ...]
    rows: int
    start: int
    end: int
    columns: tuple[ColumnOutline, ...]


@dataclass(frozen=True, slots=True)
class PageText:
    """A page with its text, and what stands in its margins."""

    number: int
    label: str
    header: str
    footer: str
    start: int
    text: str


class Library:
    """The documents of a corpus that have structure; `queries` are the reads made so far."""

    def __init__(self, database: Database, corpus: str) -> None:
        self.database = database
        self.corpus = corpus
        self.queries: list[ShownQuery] = []
        rows = database.read("structure/documents", corpus=corpus)
        self.documents = tuple(DocumentOutline(**row) for row in rows)
        self._by_id = {document.id: document for document in self.documents}
        self._tables: tuple[TableOutline, ...] | None = None

    def read(self, name: str, **values: Any) -> list[Row]:
        """Run a statement of `cypher/structure` and keep it, to be shown with the answer."""
        path = f"structure/{name}"
        made = statement(path)
        shown = ShownQuery(made.name, made.text, made.bind(values))
        if shown not in self.queries:
            self.queries.append(shown)
        return self.database.read(path, **values)

    def document(self, id_: str) -> DocumentOutline:
        """Return a document by its id."""
        return self._by_id[id_]

    def tables(self, documents: Sequence[DocumentOutline] | None = None) -> list[TableOutline]:
        """Return the tables of the documents (of all of them by default), in their order."""
        if self._tables is None:
            ids = [document.id for document in self.documents if document.tables]
            rows = self.read("outline", documents=ids) if ids else []
            self._tables = tuple(
                TableOutline(
                    **row
                    | {
                        "pages": tuple(row["pages"] or ()),
                        "columns": tuple(ColumnOutline(**c) for c in row["columns"]),
                    }
                )
                for row in rows
            )
        wanted = None if documents is None else {document.id for document in documents}
        return [t for t in self._tables if wanted is None or t.document in wanted]

    def pages(self, document: DocumentOutline, numbers: Sequence[int] = ()) -> list[PageText]:
        """Return pages of a document with their text; all of them without `numbers`."""
        rows = self.read("pages", document=document.id, numbers=list(numbers))
        return [PageText(**row) for row in rows]

    def cite(
        self,
        document: str,
        *,
        page: int | None = None,
        table: TableOutline | None = None,
        **more: Any,
    ) -> Citation:
        """Return a citation; a table on one page alone brings the page."""
        if table is not None and page is None and table.pages:
            page = table.pages[0]
        return Citation(
            document=document,
            title=self.document(document).title,
            page=page,
            table=table.id if table else "",
            table_name=table.name if table else "",
            **more,
        )
