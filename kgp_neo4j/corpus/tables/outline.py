"""The pages and tables of a corpus, as far as a question needs them; every read is recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.types.tables import Citation, ShownQuery

__all__ = [
    "ColumnOutline",
    "DocumentOutline",
    "Library",
    "Named",
    "PageText",
    "TableOutline",
    "named_documents",
]


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """A document that has pages or tables, with their numbers."""

    id: str
    title: str
    source: str
    pages: int
    tables: int

    @property
    def file(self) -> str:
        """Return the file's name without its folders."""
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
        """Return the header, or the column's place where it has none."""
        return self.header or f"column {self.order}"


@dataclass(frozen=True, slots=True)
class TableOutline:
    """A table without its rows; `pages` are all the pages that it is on."""

    id: str
    document: str
    order: int
    number: str
    name: str
    caption: str
    pages: tuple[int, ...]
    rows: int
    columns: tuple[ColumnOutline, ...]


@dataclass(frozen=True, slots=True)
class PageText:
    """A page with its text and the text in its margins."""

    number: int
    label: str
    header: str
    footer: str
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
        """Run a statement of `cypher/structure` and record it, to be shown with the answer."""
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
        """Return the tables of the documents (all by default), in order."""
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
        """Return a citation; a table on a single page adds that page."""
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


# --- Named documents ---

_TOKEN = re.compile(r"[^\W_]+")
_NOUN = re.compile(
    r"\s*(?:document|file|pdf|report|paper|article|transcript|workbook|spreadsheet|csv)s?\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:in|of|from|document|file|pdf|does|do|has|is|within)\s+(?:the\s+)?$", re.IGNORECASE
)
#: Words that occur in titles and in questions about structure alike.
_GENERIC = frozenset(
    "page pages table tables document file report paper section row column text data list index "
    "notes summary first last second third the of and in on for a an to with no pdf number".split()
)
_LONGEST = 25


@dataclass(frozen=True, slots=True)
class Named:
    """A name at `text[start:end]`, with several documents where they share it; `whole` if it is
    all.
    """

    documents: tuple[DocumentOutline, ...]
    start: int
    end: int
    whole: bool


def named_documents(text: str, documents: Sequence[DocumentOutline]) -> list[Named]:
    """Return the documents that a text names, in the order of the text; longer names go first."""
    tokens = [(m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    names: dict[tuple[str, ...], list[DocumentOutline]] = {}
    for document in documents:
        for name in _names(document):
            names.setdefault(name, []).append(document)
    taken: list[Named] = []
    used: set[int] = set()
    for size in range(min(len(tokens), _LONGEST), 0, -1):
        for at in range(len(tokens) - size + 1):
            if used & set(range(at, at + size)):
                continue
            run = tuple(token for token, _, _ in tokens[at : at + size])
            start, end = tokens[at][1], tokens[at + size - 1][2]
            found = names.get(run)
            if found and _stands_alone(text, run, start, end):
                used |= set(range(at, at + size))
                taken.append(Named(_distinct(found), start, end, True))
    taken += _partly(text, [t for at, t in enumerate(tokens) if at not in used], documents)
    return sorted(taken, key=lambda named: named.start)


def _names(document: DocumentOutline) -> set[tuple[str, ...]]:
    file = document.file
    made = (document.title, file, PurePath(file).stem)
    return {tuple(normal(name).split()) for name in made} - {()}


def _stands_alone(text: str, run: tuple[str, ...], start: int, end: int) -> bool:
    """Return whether a short or plain name is used as a name."""
    if len(run) > 1 and not set(run) <= _GENERIC:
        return True
    if set(run) <= _GENERIC or run[0].isdigit():
        return False
    written = text[start:end]
    return (
        written != written.casefold()
        or len(written) > 12
        or bool(_NOUN.match(text, end))
        or bool(_BEFORE.search(text, 0, start))
        or (start == 0 and end == len(text))
    )


def _partly(
    text: str, tokens: list[tuple[str, int, int]], documents: Sequence[DocumentOutline]
) -> list[Named]:
    """Return the longest part of a name in the text that only one document has."""
    if len(documents) > 2_000:
        return []
    padded = [(d, [f" {' '.join(name)} " for name in _names(d)]) for d in documents]
    for size in range(min(len(tokens), _LONGEST), 0, -1):
        for at in range(len(tokens) - size + 1):
            run = [token for token, _, _ in tokens[at : at + size]]
            start, end = tokens[at][1], tokens[at + size - 1][2]
            if len(_TOKEN.findall(text, start, end)) != size:
                continue  # a whole name is between
            telling = [token for token in run if token not in _GENERIC and not token.isdigit()]
            if not telling or run[0] in ("the", "of", "in") or run[-1] in ("the", "of", "in"):
                continue
            code = len(run[0]) > 4 and any(c.isdigit() for c in run[0])  # "word365"
            if size == 1 and not code and not (len(run[0]) > 3 and _NOUN.match(text, end)):
                continue
            if size > 1 and len(telling) < 2 and run[-1] not in ("report", "document", "paper"):
                continue
            key = f" {' '.join(run)} "
            found = [d for d, names in padded if any(key in name for name in names)]
            if len(found) == 1:
                return [Named((found[0],), start, end, False)]
    return []


def _distinct(documents: list[DocumentOutline]) -> tuple[DocumentOutline, ...]:
    return tuple({document.id: document for document in documents}.values())
