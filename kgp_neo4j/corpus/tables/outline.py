"""The pages and tables of a corpus, as far as a question needs them; every read is recorded.

A `Grid` is a table in memory: its columns and the cells of each row.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any, TypeVar

from kgp_neo4j.corpus.answer.traces import shown_query
from kgp_neo4j.corpus.load.contents import markdown, normal
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.text.words import STOP_WORDS, fold, stem
from kgp_neo4j.types.tables import Citation, ShownQuery, SourceTable, cited_name, ends_apart

T = TypeVar("T")
#: Words that name nothing in a table: those of every text, and question words.
STOP = STOP_WORDS.union(
    "name list listed give tell total number amount previous long table chart".split()
)
#: Words of a cell that a question is compared with, at most.
_MOST_WORDS = 40


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as the graph has it: its text, the text in normal form, and its value."""

    text: str
    norm: str
    value: float | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its place from 1, its header, the header's normal form, and its cells' type."""

    order: int
    header: str
    norm: str
    type: str

    @property
    def name(self) -> str:
        """Return the header, or the column's place where it has none."""
        return self.header or f"column {self.order}"


@dataclass(frozen=True)
class Grid:
    """A table's data rows; `numbers` are the rows' numbers, counted from 1.

    `totals` are the rows (indexes) that sum up others: with `sum` or `average`.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: tuple[int, ...]
    totals: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """Return the cells of each column."""
        return tuple(tuple(row[at] for row in self.rows) for at in range(len(self.columns)))

    @cached_property
    def stems(self) -> tuple[tuple[str, ...], ...]:
        """Return the stems of each column's header."""
        return tuple(tuple(map(stem, fold(c.norm).split())) for c in self.columns)

    @cached_property
    def valued(self) -> tuple[float, ...]:
        """Return the share of each column's cells that have a number."""
        return tuple(_share([c.value for c in cells if c.norm]) for cells in self.cells)

    @cached_property
    def dated(self) -> tuple[float, ...]:
        """Return the share of each column's cells that have a date."""
        return tuple(_share([c.date for c in cells if c.norm]) for cells in self.cells)

    @cached_property
    def distinct(self) -> tuple[int, ...]:
        """Return the number of different texts in each column."""
        return tuple(len({c.norm for c in cells}) for cells in self.cells)

    @cached_property
    def counted(self) -> tuple[bool, ...]:
        """Return whether a column only numbers the rows."""
        return tuple(
            len(cells) > 1 and all(cell.value == at for at, cell in enumerate(cells[:20], 1))
            for cells in self.cells
        )

    @cached_property
    def folded(self) -> tuple[dict[str, tuple[str, ...]], ...]:
        """Return each column's texts without accents, with the normal forms of each."""
        columns: list[dict[str, tuple[str, ...]]] = []
        for cells in self.cells:
            texts: dict[str, tuple[str, ...]] = {}
            for norm in dict.fromkeys(cell.norm for cell in cells):
                if text := fold(norm):
                    texts[text] = (*texts.get(text, ()), norm)
            columns.append(texts)
        return tuple(columns)

    @cached_property
    def words(self) -> dict[str, list[tuple[int, tuple[str, ...], int]]]:
        """Return, by the first four letters of words, their (column, words of the cell, place)."""
        places: dict[str, list[tuple[int, tuple[str, ...], int]]] = {}
        for column, texts in zip(self.columns, self.folded, strict=True):
            for words in (tuple(text.split()) for text in texts):
                for place, word in enumerate(words[:_MOST_WORDS]):
                    places.setdefault(word[:4], []).append((column.order, words, place))
        return places


def _share(values: Sequence[object]) -> float:
    return sum(value is not None for value in values) / max(len(values), 1)


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """A document that has pages or tables, with their numbers."""

    id: str
    title: str
    source: str
    pages: int
    tables: int
    apart: str = ""

    @property
    def name(self) -> str:
        """Return the title as an answer shows it, told apart from others."""
        return cited_name(self.title, self.apart)


@dataclass(frozen=True, slots=True)
class TableOutline:
    """A table without its rows; `pages` are all the pages that it is on."""

    id: str
    document: DocumentOutline
    order: int
    number: str
    name: str
    caption: str
    pages: tuple[int, ...]
    rows: int
    columns: tuple[Column, ...]

    @property
    def called(self) -> str:
        """Return "Table 2-1 of Row permissions"."""
        return f"{self.name} of {self.document.name}"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A data row with the cells that were asked for; `total` is what it is of others, if it is."""

    number: int
    title: str
    page: int | None
    total: str | None
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its text and headings, and the text in its margins."""

    document: DocumentOutline
    number: int
    label: str
    header: str
    footer: str
    text: str
    headings: list[str]


class Library:
    """The documents of a corpus that have structure; `queries` are the reads made so far."""

    def __init__(self, database: Database, corpus: str) -> None:
        self.database = database
        self.corpus = corpus
        self.queries: list[ShownQuery] = []
        rows = database.read("structure/documents", corpus=corpus)
        apart = ends_apart((row["title"], row["source"]) for row in rows)
        self.documents = tuple(
            DocumentOutline(**row, apart=apart.get((row["title"], row["source"]), ""))
            for row in rows
        )
        self._by_id = {document.id: document for document in self.documents}

    def read(self, path: str, **values: Any) -> list[Row]:
        """Run a statement and record it, to be shown with the answer."""
        query = shown_query(path, **values)
        if query not in self.queries:
            self.queries.append(query)
        return self.database.read(path, **values)

    def tables(self, documents: Sequence[DocumentOutline]) -> list[TableOutline]:
        """Return the tables of the documents, in order."""
        wanted = {document.id for document in documents}
        return [table for table in self._tables if table.document.id in wanted]

    @cached_property
    def _tables(self) -> list[TableOutline]:
        ids = [document.id for document in self.documents if document.tables]
        tables = []
        for row in self.read("structure/outline", documents=ids) if ids else ():
            document, pages = self._by_id[row["document"]], tuple(row["pages"] or ())
            columns = tuple(Column(**column) for column in row["columns"])
            own = {"document": document, "pages": pages, "columns": columns}
            tables.append(TableOutline(**row | own))
        return tables

    def rows(self, table: TableOutline, **only: Any) -> list[TableRow]:
        """Return data rows of a table: all, or `only` what `structure/rows` is asked for."""
        rows = self.read("structure/rows", table=table.id, **only)
        return [TableRow(**row | {"cells": tuple(Cell(*c) for c in row["cells"])}) for row in rows]

    def markdown(self, table: TableOutline, limit: int = 40) -> str:
        """Return a table as Markdown, with a note where it has more rows than `limit`."""
        rows = self.rows(table, limit=limit)
        names = tuple(column.header for column in table.columns)
        texts = (tuple(cell.text for cell in row.cells) for row in rows)
        cut = f"\n\n(rows 1-{len(rows)} of {table.rows:,} shown)" if len(rows) < table.rows else ""
        return markdown(SourceTable(rows=(names, *texts))) + cut

    def pages(self, documents: Sequence[DocumentOutline], **only: Sequence[Any]) -> list[Page]:
        """Return the pages of documents: all, those of some `numbers`, or those with `words`."""
        ids = [document.id for document in documents]
        rows = self.read("structure/pages", documents=ids, **only)
        return [Page(**row | {"document": self._by_id[row["document"]]}) for row in rows]


def cite(document: DocumentOutline, **more: Any) -> Citation:
    """Return a citation of a document, or of a page of it."""
    return Citation(document=document.id, title=document.name, **more)


def cite_table(table: TableOutline, *, page: int | None = None, **more: Any) -> Citation:
    """Return a citation of a table with its caption, on its first page unless another is given."""
    about = {"table": table.id, "table_name": table.name, "text": table.caption}
    return cite(table.document, page=page or next(iter(table.pages), None), **about | more)


def cite_cell(
    table: TableOutline, row: TableRow, column: Column | None = None, text: str = ""
) -> Citation:
    """Return the citation of a cell, or of a row."""
    of: dict[str, Any] = {"page": row.page, "row": row.number, "row_name": row.title}
    if column is not None:
        of |= {"column": column.order, "column_name": column.header}
    return cite_table(table, text=text, **of)


_TOKEN = re.compile(r"[^\W_]+")
_NOUN = re.compile(
    r"(?i)\s*(?:document|file|pdf|report|paper|article|transcript|workbook|spreadsheet|csv)s?\b"
)
_BEFORE = re.compile(
    r"\b(?:in|of|from|document|file|pdf|does|do|has|is|within)\s+(?:the\s+)?$", re.IGNORECASE
)
#: Words that occur in titles and in questions about structure alike.
_GENERIC = frozenset(
    "page pages table tables document file report paper section row column text data list index "
    "notes summary first last second third the of and in on for a an to with no pdf number".split()
)
_GENERIC_HEADS = ("report", "document", "paper")
#: Words of a name at most.
_LONGEST = 25


@dataclass(frozen=True, slots=True)
class Named:
    """A name at `text[start:end]` and the documents that share it; `whole` if it is all."""

    documents: tuple[DocumentOutline, ...]
    start: int
    end: int
    whole: bool


def named_documents(text: str, documents: Sequence[DocumentOutline]) -> list[Named]:
    """Return the documents that a text names, in the order of the text; longer names go first.

    A name is a title, with or without what tells it from others, a file's name, or a part of two
    words and more that no other document has.
    """
    tokens = [(m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    names: dict[str, dict[str, DocumentOutline]] = {}
    for document in documents:
        path = PurePath(document.source)
        given = (document.title, document.name, document.apart, path.name, path.stem)
        for name in {*map(normal, given)} - {""}:
            names.setdefault(name, {})[document.id] = document
    named: list[Named] = []
    used: set[tuple[str, int, int]] = set()
    for whole in (True, False):
        for run in runs(tokens, _LONGEST):
            words, start, end = " ".join(token[0] for token in run), run[0][1], run[-1][2]
            if used & set(run) or set(words.split()) <= _GENERIC:
                continue
            fitting = names.get(words, {}) if whole else _partly(words, names)
            if fitting and (not whole or len(run) > 1 or _stands_alone(text, start, end)):
                used |= set(run)
                named.append(Named(tuple(fitting.values()), start, end, whole))
    return sorted(named, key=lambda each: each.start)


def runs(items: Sequence[T], longest: int) -> Iterator[Sequence[T]]:
    """Yield the runs of up to so many items, the longest first."""
    for size in range(min(len(items), longest), 0, -1):
        yield from (items[at : at + size] for at in range(len(items) - size + 1))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether a name of one word is used as a name."""
    written = text[start:end]
    return not written.isdigit() and (
        written != written.casefold()
        or len(written) > 12
        or bool(_NOUN.match(text, end) or _BEFORE.search(text, 0, start))
        or (start == 0 and end == len(text))
    )


def _partly(
    words: str, names: Mapping[str, Mapping[str, DocumentOutline]]
) -> Mapping[str, DocumentOutline]:
    """Return the only document with these words in its name: two at least that tell something."""
    run = words.split()
    telling = [word for word in run if word not in _GENERIC and not word.isdigit()]
    if len(telling) < 2 and not (telling and len(run) > 1 and run[-1] in _GENERIC_HEADS):
        return {}
    fitting: dict[str, DocumentOutline] = {}
    for held in (held for name, held in names.items() if f" {words} " in f" {name} "):
        fitting |= held
    return fitting if len(fitting) == 1 else {}
