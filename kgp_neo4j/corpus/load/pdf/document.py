"""Read a PDF file page by page into one document with its pages and tables."""

import io
import logging
import os
import re
from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any
from unicodedata import normalize

from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfminer.pdfpage import PDFPage
from pdfminer.pdftypes import resolve1
from pypdfium2 import PdfDocument

from kgp_neo4j.corpus.load.contents import given_title, markdown
from kgp_neo4j.corpus.load.pdf import drawing
from kgp_neo4j.corpus.load.pdf.cells import PageTable
from kgp_neo4j.corpus.load.pdf.letters import Line, lines_of
from kgp_neo4j.corpus.load.pdf.page import Block, Heading, PageParts, blocks_of, furniture, parts_of
from kgp_neo4j.environment.files import MOST_PACKED, read_whole, shown, stem
from kgp_neo4j.environment.job import bar
from kgp_neo4j.environment.kinds import is_installed
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourcePage, SourceSection, SourceTable

#: The environment variable with the password of encrypted PDF files.
PASSWORD_VARIABLE = "KGP_NEO4J_PDF_PASSWORD"
#: Pages on each side with which a page's header and footer are compared.
_NEIGHBOURS = 4


def read_pdf(file: IO[bytes], path: Path) -> SourceDocument:
    """Return a PDF file as a document with pages and tables.

    Pages that cannot be read, or are pictures without text, stay in it, empty, named in `left_out`.
    Raises InputError for a file that is empty, no PDF, damaged, encrypted, or without any text.
    """
    where = shown(path)
    data = read_whole(file, where, MOST_PACKED)
    if not data:
        raise InputError("the file is empty", where=where)
    if b"%PDF-" not in data[:1024]:
        raise InputError("not a PDF file", where=where, hint="Rename it to what it is.")
    assembly, lexicon = _Assembly(), set[str]()
    left_out: list[str] = []
    #: How many letters of which pages are not in the text as they are drawn.
    counted: dict[str, list[tuple[int, int]]] = defaultdict(list)
    gutters, sizes = list[float](), Counter[float]()
    title = largest = ""
    pdf = _opened(where, data)
    is_read = False
    for parts, neighbours in _with_neighbours(_pages(pdf, where, left_out, lexicon)):
        page = parts.objects
        is_read = is_read or (page.height > 0 and not page.is_damaged)
        if parts.number == 1:
            largest = _largest(parts)
            framed = [t.heading for t in parts.tables if t.box.top < 0.2 * page.height]
            title = given_title(pdf.metadata.get("Title")) or largest or "".join(framed[:1])
        for word in parts.words:
            sizes[round(word.size, 1)] += len(word.text)
        header, footer, number = furniture(parts, neighbours)
        blocks = blocks_of(parts, [*header, *footer], lexicon, gutters)
        if page.is_damaged:
            left_out.append(f"page {parts.number}: damaged, what could be read of it is kept")
        elif not blocks and page.has_picture:
            hint = "no text" if is_installed("rapidocr") else "kgp-neo4j[ocr] recognises its text"
            left_out.append(f"page {parts.number}: only an image, {hint}")
        above, below = _text(header), " ".join(filter(None, (_text(footer), parts.margin)))
        given = assembly.add(parts, parts.label or number, above, below, blocks)
        lost = parts.characters - Counter(normalize("NFD", f"{above}{given}{below}"))
        for what, count in (
            ("cannot be seen", parts.hidden),
            ("have no text in their font", parts.unknown),
            ("are in no text", sum(count for c, count in lost.items() if c.isalnum())),
        ):
            if count:
                counted[what].append((parts.number, count))
    text = "".join(assembly.texts)
    told = [_told(what, counts) for what, counts in counted.items()]
    if not text.strip():
        if not is_read:
            raise _damaged(where)
        hint = 'Have them recognised: pip install "kgp-neo4j[ocr]", and load again.'
        why = f": {told[0]}" if told else ", only pictures" * bool(left_out)
        is_hint = (told or left_out) and not is_installed("rapidocr")
        raise InputError(f"the PDF holds no text{why}", where=where, hint=hint if is_hint else None)
    with suppress(Exception):  # there is no form, or it is damaged
        form = resolve1(pdf.doc.catalog["AcroForm"])
        if "XFA" in form and not resolve1(form.get("Fields")):
            left_out.append("a form that only Adobe's programs show (XFA) is not read")
    outline: list[tuple[int, str]] = []
    with suppress(Exception):  # there is none, or it is damaged
        outline += [(each[0], str(each[1])) for each in pdf.doc.get_outlines()]
    sections = _sections(assembly.blocks, sizes, outline, {title, largest})
    if not title and sections and sections[0].start == 0:
        title = sections[0].title
    return SourceDocument(
        title=title or stem(path),
        text=text,
        source=path.as_posix(),
        pages=tuple(assembly.pages),
        tables=tuple(assembly.tables),
        left_out=(*left_out, *told),
        sections=sections,
        file_hash=sha256(data).hexdigest(),
    )


def _told(what: str, counts: Sequence[tuple[int, int]]) -> str:
    """Return in words how many letters of which pages are left out."""
    count, pages = sum(n for _, n in counts), [str(page) for page, _ in counts]
    more = f" and {len(pages) - 5} more" if len(pages) > 6 else ""
    where = f"page{'s' * (len(pages) > 1)} {', '.join(pages[: 5 if more else 6])}{more}"
    return f"{count:,} letter{'s' * (count > 1)} of {where} {what}"


def _with_neighbours(pages: Iterable[PageParts]) -> Iterator[tuple[PageParts, list[PageParts]]]:
    """Yield each page with the pages before and after it."""
    none = [None] * _NEIGHBOURS
    window: deque[PageParts | None] = deque(none, maxlen=2 * _NEIGHBOURS + 1)
    for following in chain(pages, none):
        window.append(following)
        if page := window[-1 - _NEIGHBOURS]:
            yield page, [other for other in window if other and other is not page]


class _Assembly:
    """Collect pages in order into the document's text, pages and tables."""

    def __init__(self) -> None:
        self.pages: list[SourcePage] = []
        self.tables: list[SourceTable] = []
        #: Offset of each block, with its length where it cannot be a heading.
        self.blocks: list[tuple[int, Heading | int]] = []
        self.texts: list[str] = []
        self._length = 0
        #: The last part of the table at the end of the page before, which may continue.
        self._open: PageTable | None = None

    def add(self, page: PageParts, label: str, above: str, below: str, blocks: list[Block]) -> str:
        """Add a page and return its text; a table at its top may continue the one before."""
        start, first = self._length, len(self.texts)
        for index, block in enumerate(blocks):
            if isinstance(block, PageTable):
                text = self._add_table(block, blocks[:index], page.number)
            else:
                text = block
            if text:
                mark = block if isinstance(block, Heading) else len(text)
                self.blocks.append((self._length, mark))
                self.texts.append(text + "\n\n")
                self._length += len(text) + 2
        if blocks:
            self._open = blocks[-1] if isinstance(blocks[-1], PageTable) else None
        place = page.number, start, self._length
        self.pages.append(SourcePage(*place, label, above, below, page.recognised))
        return "".join(self.texts[first:])

    def _add_table(self, part: PageTable, before: Sequence[Block], page: int) -> str:
        """Add a table's rows; return its Markdown on this page."""
        rows, pages, spans = tuple(part.rows), (page,) * len(part.rows), tuple(part.spans)
        if not self._is_continued(part, before):
            table = SourceTable(
                rows, part.header_rows, part.caption, part.number, spans=spans, row_pages=pages
            )
            text = markdown(table)
            end = self._length + len(text)
            self.tables.append(replace(table, start=self._length, end=end))
            return text
        table = self.tables[-1]
        header = table.rows[: table.header_rows]
        repeated = len(header) if _names(rows[: len(header)]) == _names(header) else 0
        shift = len(table.rows) - repeated
        moved = tuple(replace(span, row=span.row + shift) for span in spans if span.row >= repeated)
        self.tables[-1] = replace(
            table,
            rows=table.rows + rows[repeated:],
            row_pages=table.row_pages + pages[repeated:],
            spans=table.spans + moved,
        )
        if repeated == len(rows):
            return ""
        return markdown(SourceTable(header + rows[repeated:], header_rows=table.header_rows))

    def _is_continued(self, part: PageTable, before: Sequence[Block]) -> bool:
        """Return whether a table at the top of a page continues the one of the page before."""
        last = self._open
        if not last or len(part.edges) != len(last.edges) or any(b != part.caption for b in before):
            return False
        slack = 0.03 * (last.edges[-1][1] - last.edges[0][0])
        ends = zip(chain(*part.edges), chain(*last.edges), strict=True)
        is_alike = all(abs(one - other) < slack for one, other in ends)
        return part.continued or (is_alike and part.caption in ("", self.tables[-1].caption))


def _names(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [["".join(text.casefold().split()) for text in row] for row in rows]


def _pages(pdf: Any, where: str, left_out: list[str], lexicon: set[str]) -> Iterator[PageParts]:
    """Yield the pages of a file; one that is damaged has no height and is named in `left_out`."""
    pages: list[Any] = []
    with suppress(Exception):  # a damaged file makes its library raise any error
        pages += PDFPage.create_pages(pdf.doc)
    if not pages:
        raise _damaged(where)
    with suppress(Exception):  # as above
        count = resolve1(resolve1(pdf.doc.catalog["Pages"])["Count"])
        if count > len(pages):
            left_out.append(f"{count - len(pages)} of {count} pages: the file lacks them")
    pdf.shown = None
    with suppress(Exception):  # PDFium cannot read it
        pdf.shown = PdfDocument(pdf.stream.getvalue(), pdf.password or None)
    lexicon |= drawing.words_written(pdf)
    with bar(f"read {where[-40:]}", len(pages), "pages") as progress:
        for number, page in enumerate(pages, 1):
            page.pdf, page.number = pdf, number
            try:
                yield parts_of(page)
            except Exception as error:  # as above
                why = "too much on it" if isinstance(error, drawing.TooMuchError) else "damaged"
                left_out.append(f"page {number}: {why}, it could not be read")
                yield PageParts(number, drawing.PageObjects(0, 0))
            pdf.doc._cached_objs.clear()  # else it keeps all pages' letters in memory
            progress.update()


def _opened(where: str, data: bytes) -> Any:
    """Return a file opened with pdfplumber."""
    import pdfplumber  # takes a while, and only PDF files need it

    drawing.bound_streams()
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    password = os.environ.get(PASSWORD_VARIABLE, "")
    try:
        return pdfplumber.open(io.BytesIO(data), password=password)
    except Exception as error:  # a damaged file makes its library raise any error
        causes = (error, error.__cause__, *error.args)
        if not any(isinstance(cause, PDFPasswordIncorrect) for cause in causes):
            raise _damaged(where) from error
        what = "the password does not open it" if password else "the PDF is encrypted"
        hint = f"Give an unlocked copy, or its password in {PASSWORD_VARIABLE}."
        raise InputError(what, where=where, hint=hint) from error


def _damaged(where: str) -> InputError:
    return InputError("the PDF is damaged", where=where, hint="Fetch it again.")


# --- Headings and the title ---

_MARKS = re.compile(r"[\W_]+")
#: Least ratio of a heading's letter size to that of running text, characters of what is below it.
_LARGER, _LEAST = 1.12, 60


def _sections(
    marks: Sequence[tuple[int, Heading | int]],
    sizes: Counter[float],
    outline: Iterable[tuple[int, str]],
    titles: Container[str],
) -> tuple[SourceSection, ...]:
    """Return the sections that the headings among a document's blocks begin.

    The file's `outline` tells headings and levels, where most of it is found in the text. Otherwise
    a heading is large or bold, and above a paragraph. `titles` are of the whole document.
    """
    levels = {name: level for level, title in outline if (name := _plain(title))}
    names = [(start, block, _plain(block)) for start, block in marks if isinstance(block, Heading)]
    listed = [each for each in names if each[2] in levels]
    if listed and 2 * len({name for *_, name in listed}) >= len(levels):
        own = [each for each in listed if each[1] not in titles]
        return tuple(SourceSection(str(block), levels[name], start) for start, block, name in own)
    usual = sizes.most_common(1)[0][0] if sizes else 0.0
    headings: list[tuple[int, Heading, float]] = []
    is_above = False
    for start, block in reversed(marks):
        if isinstance(block, int):
            is_above = block >= _LEAST
            continue
        is_large = block.size >= _LARGER * usual
        is_above = is_above and (is_large or (block.bold and block.size > 0.95 * usual))
        if is_above and block not in titles:
            headings.append((start, block, max(round(block.size), round(usual))))
    ranks = sorted({size for *_, size in headings}, reverse=True)
    return tuple(
        SourceSection(str(block), 1 + ranks.index(size), start)
        for start, block, size in reversed(headings)
    )


def _plain(title: str) -> str:
    return _MARKS.sub("", title).casefold().lstrip("0123456789")


def _largest(parts: PageParts) -> str:
    """Return the heading of a first page: the uppermost of its largest lines, and those next."""
    sizes = sorted(w.size for w in parts.words for _ in w.text)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    large = [w for w in parts.words if not w.turn and w.size >= 1.2 * usual]
    lines = [line for line in lines_of(large) if len(line) > 3]
    # A single word may be a publisher's mark, printed larger than the title.
    lines = [line for line in lines if len(line.words) > 1] or lines
    most = max((line.size for line in lines), default=0.0)
    lines = [line for line in lines if line.size >= 0.85 * most]
    heading = lines[:1]
    for above, line in pairwise(lines):
        if line.top - above.bottom >= 0.8 * line.size:
            break
        heading.append(line)
    title = _text(heading)
    return title if len(title) <= 200 and any(map(str.isalpha, title)) else ""


def _text(lines: Sequence[Line]) -> str:
    return " ".join(line.text for line in lines)
