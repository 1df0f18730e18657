"""Read office files and electronic books; nothing in them is run, and nothing is downloaded."""

import io
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from kgp_neo4j.corpus.load.contents import Blocks, captioned, given_title, table_of
from kgp_neo4j.corpus.load.notation import bare, linear, raised
from kgp_neo4j.corpus.load.office_texts import read_open_document, read_word
from kgp_neo4j.corpus.load.sheets import UNLOCK, read_old_sheets, read_sheets, shown_value
from kgp_neo4j.corpus.load.texts import decoded
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.text.safe import seen
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourcePage, SourceSection, SourceTable, Span

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_XML = (".xml", ".rels", ".vml", ".xhtml", ".html", ".htm", ".css")
_MIB = 1 << 20
_MOST_UNPACKED, _MOST_CHAPTER = 2048 * _MIB, 16 * _MIB


def read_office(kind: str, data: bytes, where: str) -> SourceDocument:
    """Return the contents of an office file: tables of Word, sheets of Excel, slides as pages.

    Raises InputError where the extra `office` is missing, and for files that are encrypted,
    damaged, of another kind, or too large when unpacked.
    """
    try:
        with needs("office", f"a {kind} file", InputError):
            title = _checked(data, kind)
            document = _KINDS[kind][0](data, where)
            return replace(document, title=title or document.title)
    except InputError as error:
        raise InputError(error.what, where=where, hint=error.hint) from error
    except Exception as error:
        # The readers raise KeyError, AttributeError, struct.error and more on damaged files.
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        what = f"this is no {kind} file, or a damaged one ({reason})"
        raise InputError(what, where=where) from error


def _checked(data: bytes, kind: str) -> str:
    """Check a file's kind and size, and return the title in its properties."""
    if not data:
        raise InputError("the file is empty")
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise InputError("the file is encrypted", hint=UNLOCK)
        if kind != ".xls":
            hint = f"Save it as {kind} with a newer program."
            raise InputError("an older format than its name says", hint=hint)
    if kind == ".xls":
        if data.startswith(b"PK"):
            raise InputError("an .xlsx file by another name", hint="Rename it to .xlsx.")
        return ""
    with ZipFile(io.BytesIO(data)) as package:
        parts, (_, main, most) = package.infolist(), _KINDS[kind]
        if any(part.flag_bits & 1 for part in parts):
            raise InputError("the file is encrypted", hint=UNLOCK)
        if not any(part.filename.startswith(main) for part in parts):
            raise InputError(f"this is no {kind} file", hint="Its name ends as another kind's.")
        # No more of a part is ever unpacked than the size it declares.
        xml = sum(p.file_size for p in parts if p.filename.lower().endswith(_XML))
        if xml > most * _MIB or sum(part.file_size for part in parts) > _MOST_UNPACKED:
            what = f"the file unpacks to more than can be read ({xml // _MIB:,} MiB of XML)"
            raise InputError(what, hint=f"Up to {most:,} MiB are read; split the file.")
        try:
            part = "meta.xml" if kind in (".ods", ".odt") else "docProps/core.xml"
            manifest = "META-INF/manifest.xml" if part == "meta.xml" else part
            if manifest in package.namelist() and b"encryption-data" in package.read(manifest):
                raise InputError("the file is encrypted", hint=UNLOCK)
            core = ElementTree.fromstring(package.read(part))
        except (KeyError, ElementTree.ParseError):
            return ""
    return given_title(core.findtext(".//{*}title"))


# --- PowerPoint ---

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def _slides(data: bytes, where: str) -> SourceDocument:
    """Return a .pptx file, slides as pages and sections, notes last in each, charts as tables."""
    from pptx import Presentation

    blocks, sections, starts, first = Blocks(), [], [], ""
    for at, slide in enumerate(Presentation(io.BytesIO(data)).slides, 1):
        starts.append(blocks.length)
        if slide._element.get("show") in ("0", "false"):
            blocks.left_out.append(f"page {at} is a hidden slide and left out")
            continue
        # Of a shape in several forms, the first is shown.
        for part in slide._element.xpath(".//*[local-name()='AlternateContent']/*[1]/*"):
            part.getparent().getparent().addprevious(part)
        title = slide.shapes.title
        named = " ".join(_text(title).split()) if title is not None else ""
        shapes = sorted(_ordered(slide.shapes), key=lambda shape: bool(shape != title))
        for shape in shapes:
            try:
                _add_shape(blocks, shape, at)
            except Exception:  # a part that is missing, or of a kind that is not known
                blocks.left_out.append(f"page {at}: {shape.name} cannot be read")
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame):
            blocks.add(seen(notes.text))
        if blocks.length > starts[-1]:
            sections.append(SourceSection(named or f"slide {at}", 1, starts[-1]))
        elif shapes:
            blocks.left_out.append(f"page {at}: only pictures, no text")
        first = named if at == 1 else first
    text = blocks.text
    bounds = pairwise(min(at, len(text)) for at in (*starts, len(text)))
    pages = tuple(SourcePage(at, *places) for at, places in enumerate(bounds, 1))
    blocks.tables = list(captioned(text, blocks.tables))
    return blocks.document(where, first, pages=pages, sections=tuple(sections))


def _ordered(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield shapes from top to bottom, those of a group together."""
    shown = (shape for shape in shapes if not shape._element.xpath("./*/p:cNvPr[@hidden='1']"))
    for shape in sorted(shown, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if hasattr(shape, "shapes"):  # a group
            yield from _ordered(shape.shapes)
        else:
            yield shape


def _add_shape(blocks: Blocks, shape: Any, page: int) -> None:
    if shape.has_table or shape.has_chart:
        table = _table(shape.table) if shape.has_table else _chart(shape.chart)
        if table and table.rows:
            blocks.add_table(replace(table, row_pages=(page,) * len(table.rows)))
    elif shape.has_text_frame:
        blocks.add(_text(shape))
    elif shape._element.tag.endswith("}graphicFrame"):
        [diagram] = shape._element.xpath(".//@r:dm")
        parts = ElementTree.fromstring(shape.part.related_part(diagram).blob)
        for node in parts.iterfind(".//{*}pt/{*}t"):
            blocks.add(seen("".join(node.itertext())))


def _text(shape: Any) -> str:
    text = ""
    for part in shape.text_frame._txBody.iter("{*}p", "{*}br", "{*}oMath", f"{_DRAWING}t"):
        look = part.getparent().find(f"{_DRAWING}rPr")
        above = "" if look is None else look.get("baseline", "").strip("0%")
        name = bare(part.tag)
        said = linear(part) if name == "oMath" else part.text or "" if name == "t" else "\n"
        text += raised(text, said) if above > "0" else said
    return seen(text)


def _table(table: Any) -> SourceTable | None:
    rows = [[" ".join(_text(cell).split()) for cell in row.cells] for row in table.rows]
    spans = []
    for r, row in enumerate(table.rows):
        for c, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                across = min(cell.span_width, len(row.cells) - c)
                for texts in rows[r : r + cell.span_height]:
                    texts[c : c + across] = [rows[r][c]] * across
                spans.append(Span(r, c, min(cell.span_height, len(rows) - r), across))
    grid = table_of(rows, spans)
    if grid and table.first_row and len(grid.rows) > 1:
        return replace(grid, header_rows=max(grid.header_rows, 1))
    return grid


def _chart(chart: Any) -> SourceTable:
    """Return the numbers of a chart: a row for each category, a column for each series."""
    names: dict[int, str] = {}
    columns: list[tuple[str, ...]] = []
    for series in chart.element.xpath(".//c:ser"):
        own = _points(series, "cat") or _points(series, "xVal") or names
        if own != names:  # points have places of their own in each series
            names = own
            columns.append(("", *names.values()))
        for points in filter(None, (_points(series, k) for k in ("val", "yVal", "bubbleSize"))):
            name = " ".join(_points(series, "tx").values())
            columns.append((name, *(points.get(at, "") for at in names or points)))
    has_title = chart.has_title and chart.chart_title.has_text_frame
    title = chart.chart_title.text_frame.text if has_title else ""
    rows = tuple(zip_longest(*columns, fillvalue=""))
    return SourceTable(rows=rows, caption=" ".join(title.split()))


def _points(series: Any, kind: str) -> dict[int, str]:
    """Return what a chart has stored of a series, by place, as it is shown."""
    from openpyxl.styles.numbers import is_date_format
    from openpyxl.utils.datetime import from_excel

    found: dict[int, str] = {}
    for level in series.xpath(f"./c:{kind}//*[c:pt]"):
        shown = {int(pt.get("idx")): pt.findtext("{*}v") or "" for pt in level.iterfind("{*}pt")}
        if format_ := level.findtext("{*}formatCode"):
            value = from_excel if is_date_format(format_) else float
            with suppress(ValueError):
                shown = {at: shown_value(value(float(v)), format_) for at, v in shown.items()}
        outer = ""
        for at in sorted(found or shown):  # an outer level names the first of its places
            outer = shown.get(at, outer)
            found[at] = f"{outer} {found.get(at, '')}".strip()
    return found


# --- Electronic books ---


def _book(data: bytes, where: str) -> SourceDocument:
    """Return a book's chapters in reading order; raises InputError if copying is locked."""
    from kgp_neo4j.corpus.load.html import read_page

    package = ZipFile(io.BytesIO(data))
    if "META-INF/rights.xml" in package.namelist():
        raise InputError("the book is locked", hint="Give a copy that is not.")
    container = ElementTree.fromstring(package.read("META-INF/container.xml"))
    place = next(root.get("full-path", "") for root in container.iter() if root.get("full-path"))
    book = ElementTree.fromstring(package.read(place))
    items = {item.get("id"): item for item in book.iterfind("{*}manifest/{*}item")}
    lost: list[str] = []

    def text(item: ElementTree.Element) -> str:
        name = unquote(item.get("href", item.get("idref", "")))
        with suppress(KeyError, InputError, BadZipFile):
            part = posixpath.normpath(posixpath.join(posixpath.dirname(place), name))
            if package.getinfo(part).file_size <= _MOST_CHAPTER:
                return decoded(package.read(part), where)[0]
        lost.append(f"{name} is missing or cannot be read")
        return ""

    styles = [text(item) for item in items.values() if item.get("media-type") == "text/css"]
    chapters = [text(items.get(ref.get("idref"), ref)) for ref in book.iterfind("{*}spine/*")]
    page = read_page("".join((*(f"<style>{style}</style>" for style in styles), *chapters)), where)
    title = book.findtext("{*}metadata/{http://purl.org/dc/elements/1.1/}title") or page.title
    return replace(page, title=" ".join(title.split()), left_out=(*page.left_out, *lost))


#: The reader of each kind, what its main part's name begins with, and MiB of unpacked XML at most:
#: texts and slides become a tree in memory, sheets are streamed.
_KINDS = {
    ".docx": (read_word, "word/", 128),
    ".xlsx": (read_sheets, "xl/", 1024),
    ".xls": (read_old_sheets, "", 0),
    ".pptx": (_slides, "ppt/", 256),
    ".ods": (read_open_document, "content.xml", 256),
    ".odt": (read_open_document, "content.xml", 128),
    ".epub": (_book, "META-INF/container.xml", 128),
}
OFFICE_KINDS = tuple(_KINDS)
