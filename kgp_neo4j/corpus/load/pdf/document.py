"""Read a PDF file page by page into one document with its pages and tables."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.grid import markdown
from kgp_neo4j.corpus.load.pdf.cells import PageTable
from kgp_neo4j.corpus.load.pdf.headings import sections_of
from kgp_neo4j.corpus.load.pdf.letters import Line, line_text, lines_of
from kgp_neo4j.corpus.load.pdf.page import (
    Block,
    Heading,
    Lexicon,
    PageParts,
    blocks_of,
    furniture,
    parts_of,
)
from kgp_neo4j.corpus.load.pdf.recognition import can_recognise
from kgp_neo4j.environment.files import shown, stem
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourcePage, SourceTable, Span

__all__ = ["PASSWORD_VARIABLE", "Assembly", "read_pdf"]


@dataclass(slots=True)
class _Table:
    """A table that grows over pages."""

    rows: list[tuple[str, ...]]
    row_pages: list[int]
    header_rows: int
    edges: list[tuple[float, float]]
    spans: list[Span] = field(default_factory=list)
    caption: str = ""
    number: str = ""
    start: int = 0
    end: int = 0

    def made(self) -> SourceTable:
        return SourceTable(
            rows=tuple(self.rows),
            header_rows=self.header_rows,
            caption=self.caption,
            number=self.number,
            start=self.start,
            end=self.end,
            spans=tuple(self.spans),
            row_pages=tuple(self.row_pages),
        )


class Assembly:
    """Collect pages in order into the document's text, pages and tables."""

    def __init__(self) -> None:
        self.pages: list[SourcePage] = []
        #: Offset of each block, with its length where it cannot be a heading.
        self.marks: list[tuple[int, Heading | int]] = []
        self._texts: list[str] = []
        self._length = 0
        self._tables: list[_Table] = []
        #: The table at the end of the page before, which may continue.
        self._open: _Table | None = None

    @property
    def text(self) -> str:
        """Return the text so far, of all pages one after another."""
        return "".join(self._texts)

    @property
    def tables(self) -> tuple[SourceTable, ...]:
        """Return the tables so far, in the order in which they begin."""
        return tuple(table.made() for table in self._tables)

    def add(
        self,
        number: int,
        label: str,
        header: str,
        footer: str,
        blocks: Sequence[Block],
        recognised: bool = False,
    ) -> None:
        """Add a page; a table at its top may continue the one at the end of the page before."""
        parts: list[str] = []
        at = self._length
        last: _Table | None = None
        for index, block in enumerate(blocks):
            if isinstance(block, str):
                text = block
                last = None if len(block) > 200 or index < len(blocks) - 1 else last
            else:
                begun = self._continued(block, blocks[:index])
                text, last = self._table(block, begun, number, at)
            if text:
                self.marks.append((at, block if isinstance(block, Heading) else len(text)))
                parts.append(text + "\n\n")
                at += len(text) + 2
        self._open = last if blocks else self._open
        self._texts += parts
        self.pages.append(SourcePage(number, self._length, at, label, header, footer, recognised))
        self._length = at

    def _continued(self, grid: PageTable, before: Sequence[Block]) -> _Table | None:
        """Return the table of the page before that a table at the top of a page continues."""
        table = self._open
        texts = [block for block in before if isinstance(block, str)]
        if table is None or len(texts) < len(before):
            return None
        named = grid.caption in texts
        if len(texts) > named or len(grid.rows[0]) != len(table.rows[0]):
            return None
        if grid.number and table.number and grid.number != table.number:
            return None
        if grid.continued:
            return table
        if grid.caption and grid.caption != table.caption:
            return None
        header = _names(table.rows[: table.header_rows])
        if _names(grid.rows[: table.header_rows]) == header:
            return table
        if grid.header_is_evident:
            return None
        wide = table.edges[-1][1] - table.edges[0][0]
        same = all(
            abs(a[0] - b[0]) < 0.03 * wide and abs(a[1] - b[1]) < 0.03 * wide
            for a, b in zip(grid.edges, table.edges, strict=True)
        )
        return table if same else None

    def _table(
        self, grid: PageTable, begun: _Table | None, page: int, at: int
    ) -> tuple[str, _Table]:
        """Add a table's rows; return its Markdown on this page."""
        if begun is None:
            table = _Table(
                list(grid.rows), [page] * len(grid.rows), grid.header_rows, grid.edges,
                list(grid.spans), grid.caption, grid.number,
            )  # fmt: skip
            self._tables.append(table)
            text = markdown(table.made())
            table.start, table.end = at, at + len(text)
            return text, table
        header = begun.rows[: begun.header_rows]
        repeated = _names(grid.rows[: begun.header_rows]) == _names(header)
        skip = begun.header_rows if repeated else 0
        rows = grid.rows[skip:]
        offset = len(begun.rows) - skip
        begun.spans += [
            Span(s.row + offset, s.column, s.rows, s.columns) for s in grid.spans if s.row >= skip
        ]
        begun.rows += rows
        begun.row_pages += [page] * len(rows)
        shown = SourceTable(rows=(*header, *rows), header_rows=begun.header_rows)
        return (markdown(shown) if rows else ""), begun


def _names(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [["".join(text.casefold().split()) for text in row] for row in rows]


# --- The file ---

#: The environment variable with the password of encrypted PDF files.
PASSWORD_VARIABLE = "KGP_NEO4J_PDF_PASSWORD"
#: Pages on each side with which a page's header and footer are compared.
_NEIGHBOURS = 4
#: Pages read with one opening of the file, so that the memory its library uses for them is freed.
_AT_ONCE = 32
_NO_TITLE = re.compile(
    r"microsoft (?:word|powerpoint|excel)\b|untitled|document\d*$|.*\.(?:\w{2,4})$|"
    r"[\w-]*\d{4,}[\w-]*$|slide \d|print|layout",
    re.IGNORECASE,
)


def read_pdf(path: Path, data: bytes) -> SourceDocument:
    """Return a PDF file as a document with pages and tables.

    Raises InputError for a file that is empty, no PDF, damaged, encrypted, or without any text.
    Pages that cannot be read, or are only pictures without text that the extra `ocr` recognises,
    stay in the document, empty, and are named in `left_out`.
    """
    where = shown(path)
    if not data:
        raise InputError("the file is empty", where=where)
    if b"%PDF-" not in data[:1024]:
        raise InputError("not a PDF file", where=where, hint="Rename it to what it is.")
    assembly, lexicon = Assembly(), Lexicon()
    left_out: list[str] = []
    gutters: list[float] = []
    sizes = Counter[float]()
    title = largest = ""
    with _Opened(where, data) as file:
        for window, at in _windows(file.pages(left_out)):
            parts = window[at]
            if parts.number == 1:
                largest = _largest(parts)
                title = file.title or largest or _table_heading(parts)
            for word in parts.words:
                sizes[round(word.size, 1)] += len(word.text)
            edges = [neighbour.edges for neighbour in window]
            header, footer, number = furniture(edges, at)
            blocks = blocks_of(parts, [*header, *footer], lexicon, gutters)
            if not blocks and parts.has_picture:
                hint = "no text" if can_recognise() else "kgp-neo4j[ocr] recognises its text"
                left_out.append(f"page {parts.number}: only an image, {hint}")
            below = f"{_text(footer)} {parts.margin}".strip()
            label = parts.label or number
            assembly.add(parts.number, label, _text(header), below, blocks, parts.recognised)
        damaged = file.damaged
    if not assembly.text.strip():
        if damaged == len(assembly.pages):
            raise _damaged(where)
        raise InputError(
            "the PDF holds no text, only pictures",
            where=where,
            hint=None
            if can_recognise()
            else 'Have them recognised: pip install "kgp-neo4j[ocr]", and load again.',
        )
    sections = sections_of(assembly.marks, sizes, file.outline, {title, largest})
    if not title and sections and sections[0].start == 0:
        title = sections[0].title
    return SourceDocument(
        title=title or stem(path),
        text=assembly.text,
        source=path.as_posix(),
        pages=tuple(assembly.pages),
        tables=assembly.tables,
        left_out=tuple(left_out),
        sections=sections,
    )


class _Opened:
    """A PDF file whose pages are read one after another, with its library's memory freed."""

    def __init__(self, where: str, data: bytes) -> None:
        self._where = where
        self._data = data
        self.damaged = 0
        self._pdf = self._open(None)
        self.title = _metadata_title(self._pdf.metadata)
        self.outline: list[tuple[int, str]] = []
        with contextlib.suppress(Exception):  # there is none, or it is damaged
            self.outline = [(each[0], str(each[1])) for each in self._pdf.doc.get_outlines()]

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def pages(self, left_out: list[str]) -> Iterator[PageParts]:
        """Yield the pages; one that is damaged is empty and named in `left_out`."""
        try:
            count = len(self._pdf.pages)
        except Exception as error:  # a damaged file makes its library raise any error
            raise _damaged(self._where) from error
        if not count:
            raise _damaged(self._where)
        from kgp_neo4j.corpus.load.pdf.bounds import TooMuchError

        with bar(f"read {self._where[-40:]}", count, "pages") as progress:
            for start in range(0, count, _AT_ONCE):
                if start:
                    self._close()
                    numbers = list(range(start + 1, min(start + _AT_ONCE, count) + 1))
                    self._pdf = self._open(numbers)
                for page in self._pdf.pages[: min(_AT_ONCE, count - start)]:
                    try:
                        parts = parts_of(page)
                    except Exception as error:  # as above
                        self.damaged += 1
                        why = "too much on it" if isinstance(error, TooMuchError) else "damaged"
                        left_out.append(f"page {page.page_number}: {why}, it could not be read")
                        parts = PageParts(page.page_number)
                    page.close()
                    yield parts
                    progress.update()

    def _open(self, numbers: list[int] | None) -> Any:
        import pdfplumber  # takes a while, and only PDF files need it
        from pdfminer.pdfdocument import PDFPasswordIncorrect

        from kgp_neo4j.corpus.load.pdf.bounds import bound_streams

        bound_streams()
        logging.getLogger("pdfminer").setLevel(logging.ERROR)
        password = os.environ.get(PASSWORD_VARIABLE, "")
        try:
            return pdfplumber.open(io.BytesIO(self._data), pages=numbers, password=password)
        except Exception as error:  # a damaged file makes its library raise any error
            causes = (error, error.__cause__, *error.args)
            if any(isinstance(cause, PDFPasswordIncorrect) for cause in causes):
                what = "the password does not open it" if password else "the PDF is encrypted"
                raise InputError(
                    what,
                    where=self._where,
                    hint=f"Give an unlocked copy, or its password in {PASSWORD_VARIABLE}.",
                ) from error
            raise _damaged(self._where) from error

    def _close(self) -> None:
        with contextlib.suppress(Exception):
            self._pdf.close()


def _windows(pages: Iterable[PageParts]) -> Iterator[tuple[Sequence[PageParts], int]]:
    """Yield each page as its place among the pages around it."""
    window: deque[PageParts] = deque()
    at = 0
    for page in pages:
        window.append(page)
        if len(window) > at + _NEIGHBOURS:
            yield window, at
            if at == _NEIGHBOURS:
                window.popleft()
            else:
                at += 1
    while at < len(window):
        yield window, at
        at += 1


def _metadata_title(metadata: object) -> str:
    """Return the title in a file's metadata, unless a program made it up."""
    title = metadata.get("Title") if isinstance(metadata, dict) else ""
    title = " ".join(str(title or "").replace("\x00", "").split())
    if not 4 <= len(title) <= 300 or not title.isprintable() or _NO_TITLE.match(title):
        return ""
    return title if sum(letter.isalpha() for letter in title) > 0.5 * len(title) else ""


def _largest(parts: PageParts) -> str:
    """Return the heading of a first page: the uppermost of its largest lines, and those
    next to it.
    """
    sizes = sorted(w.size for w in parts.words for _ in w.text)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    large = [w for w in parts.words if not w.turn and w.size >= 1.2 * usual]
    lines = [line for line in lines_of(large) if len(line) > 3]
    if not lines:
        return ""
    headings: list[list[Line]] = []
    for line in lines:
        above = headings[-1][-1] if headings else None
        if (
            above is not None
            and abs(line.size - above.size) <= 0.05 * line.size
            and line.top - above.bottom < 0.8 * line.size
        ):
            headings[-1].append(line)
        else:
            headings.append([line])
    # A single word may be a publisher's mark, printed larger than the title.
    several = [held for held in headings if len(_text(held).split()) > 1]
    largest = max(held[0].size for held in headings)
    if several and max(held[0].size for held in several) >= 0.4 * largest:
        headings = several
    largest = max(held[0].size for held in headings)
    title = next(_text(held) for held in headings if held[0].size >= 0.85 * largest)
    return title if len(title) <= 200 and any(map(str.isalpha, title)) else ""


def _table_heading(parts: PageParts) -> str:
    """Return the heading within the frame of a table that begins at the top of a page."""
    if not parts.grids:
        return ""
    first = min(parts.grids, key=lambda grid: grid.box.top)
    return first.heading if first.box.top < 0.2 * parts.height else ""


def _text(lines: Sequence[Line]) -> str:
    return " ".join(line_text(line.words) for line in lines)


def _damaged(where: str) -> InputError:
    return InputError("the PDF is damaged", where=where, hint="Fetch it again.")
