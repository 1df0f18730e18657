"""Read office files and electronic books; nothing in them is run, and nothing is downloaded."""

import io
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from html import escape, unescape
from itertools import pairwise, zip_longest
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement
from zipfile import BadZipFile, ZipFile

from kgp_neo4j.corpus.load.contents import (
    Blocks,
    captioned,
    counted,
    given_title,
    hidden_parts,
    table_of,
)
from kgp_neo4j.corpus.load.notation import Numbers, bare, is_on, linear, raised, value_of
from kgp_neo4j.corpus.load.sheets import (
    MOST_CELLS,
    UNLOCK,
    Layout,
    add_sheet,
    read_old_sheets,
    read_sheets,
    shown_value,
    too_large,
)
from kgp_neo4j.corpus.load.texts import decoded
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.text.safe import is_visible, seen
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourcePage, SourceSection, SourceTable, Span

# --- Word ---

_TEXTS = re.compile(r"word/(?:document|footnotes|endnotes)\d*\.xml")
_UNREAD = re.compile(r"word/(header|footer|chart(?=s/chart)|diagram(?=s/data))[^.]*\.xml")
_WORDS = re.compile(rb"<\w+:[tv]\b[^<>]*>[^<]*[^<\s\d]")
_BACK = re.compile(r'(?<! ) *+<a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
#: What mammoth skips, or fails at where its target is missing, as what it reads.
_READ_AS = dict.fromkeys("bdo dir fldSimple hyperlink ruby rubyBase".split(), "smartTag")
_READ_AS |= dict.fromkeys(("endnoteReference", "footnoteReference", "rt"), "proofErr")
_READ_AS |= {"br": "br", "cr": "br", "drawing": "pict", "object": "pict", "ptab": "tab"}
#: Check boxes, as mammoth writes them and as fonts for symbols have them.
_BOX = re.compile('<input( checked="checked")? type="checkbox" />')
_BOXES = str.maketrans("🗹🗷🗵⮽⌧☑🞎🞏🞐□⬜", "☒☒☒☒☒☒☐☐☐☐☐")
_WORDS_OF = re.compile(r"\w+")
#: What stands between two words.
_APART = ("br", "cr", "noBreakHyphen", "ptab", "tab")
_NUMBERING, _WIDEST = "word/numbering.xml", 63
_NO_FILL = frozenset(("", "auto", "clear", "nil", "none", "white", "ffffff"))
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_word(data: bytes, where: str) -> SourceDocument:
    """Return a Word file's text and tables, notes last, no deletions, comments, hidden text."""
    import mammoth

    from kgp_neo4j.corpus.load.html import read_page

    shown = io.BytesIO()
    with ZipFile(io.BytesIO(data)) as package, ZipFile(shown, "w") as copy:
        names, unread = package.namelist(), set[str]()
        styles, numbering = (
            ElementTree.fromstring(package.read(name) if name in names else b"<a/>")
            for name in ("word/styles.xml", _NUMBERING)
        )
        text = _Text(styles, Numbers(numbering, styles))
        for name in sorted(names, reverse=True):  # notes before the text that refers to them
            if name.startswith("word/comments.xml"):
                text.hidden += len(re.findall(rb"<\w+:comment[ >]", package.read(name)))
            elif _TEXTS.fullmatch(name):
                copy.writestr(name, text.shown(package.read(name)))
            elif (kind := _UNREAD.fullmatch(name)) and _WORDS.search(package.read(name)):
                unread.add(f"{kind[1]}s")
            elif name == _NUMBERING:  # mammoth makes lists, without numbers
                lists = ElementTree.fromstring(package.read(name))
                for format_ in lists.iterfind(".//{*}numFmt"):
                    format_.attrib |= dict.fromkeys(format_.attrib, "bullet")
                copy.writestr(name, ElementTree.tostring(lists))
            elif not name.startswith("word/media/"):
                copy.writestr(name, package.read(name))
    page = mammoth.convert_to_html(
        shown,
        style_map="p[style-name='Title'] => h1:fresh",
        convert_image=lambda image: [],  # pictures are not read, especially not linked ones
    )
    markup = _BOX.sub(lambda box: "☒" if box[1] else "☐", _BACK.sub("", page.value))
    document = read_page(markup, where)
    said = [f"not read: {', '.join(sorted(unread))}"] if unread else []
    said += text.lost(document.text)
    return replace(document, left_out=(*document.left_out, *said, *hidden_parts(text.hidden)))


class _Text:
    """Takes out of a file's texts what is hidden, and counts it; element names are bare here."""

    def __init__(self, styles: Element, numbers: Numbers) -> None:
        from mammoth.docx.dingbats import dingbats

        self._signs: dict[tuple[str, int], int] = dingbats
        self._numbers = numbers
        self.hidden = 0
        #: The texts as they follow one another, with a space where one ends.
        self._given: list[str] = []
        self._notes: set[str] = set()
        self._unseen: set[str] = set()
        self._filled: set[str] = set()
        for style in styles.findall("{*}style") * 10:  # as deep as they go
            name, base = value_of(style, "styleId"), value_of(style.find("{*}basedOn"))
            vanish, shade = style.find("{*}rPr/{*}vanish"), style.find(".//{*}shd")
            if is_on(vanish) or (vanish is None and base in self._unseen):
                self._unseen.add(name)
            if _fills(shade) or (shade is None and base in self._filled):
                self._filled.add(name)

    def shown(self, data: bytes) -> bytes:
        """Return the XML of a text without what is hidden."""
        root = ElementTree.fromstring(data)
        self._numbers.begin()
        self._notes |= {f"{bare(node.tag)}Reference{value_of(node, 'id')}" for node in root}
        is_bare = root.find("{*}background") is None and b'behindDoc="1"' not in data
        self._take_out(root, is_bare=is_bare, is_unseen=False)
        return ElementTree.tostring(root)

    def _take_out(self, node: Element, *, is_bare: bool, is_unseen: bool) -> None:
        """Empty the runs in an element that are hidden; `is_bare` says that nothing is filled."""
        for child in node:
            name = bare(child.tag)
            if name in ("del", "moveFrom"):
                self.hidden += is_visible("".join(child.itertext()))
            elif name == "p":
                style = value_of(child.find("{*}pPr/{*}pStyle"))
                is_filled = style in self._filled or _fills(child.find("{*}pPr/{*}shd"))
                hides = is_unseen or style in self._unseen
                number = "" if hides else self._numbers.label(child)
                self._given.append(" ")
                self._take_out(child, is_bare=is_bare and not is_filled, is_unseen=hides)
                self._given.append(" ")
                if number and is_visible("".join(child.itertext())):
                    run = Element(f"{_WORD}r")
                    SubElement(run, f"{_WORD}t").text = f"{number} "
                    child.insert(child.find("{*}pPr") is not None, run)
            elif name == "r" and self._is_unseen(child, is_bare=is_bare, is_unseen=is_unseen):
                self.hidden += is_visible("".join(child.itertext()))
                child.clear()
            elif name == "oMath":  # mammoth reads no formulas
                formula = linear(child)
                child.clear()
                child.tag = f"{_WORD}r"
                SubElement(child, f"{_WORD}t").text = formula
            elif name in ("sym", "t"):
                font = value_of(child, "font") or value_of(node.find("{*}rPr/{*}rFonts"), "ascii")
                text = chr(int(value_of(child, "char"), 16)) if name == "sym" else child.text or ""
                child.tag = f"{_WORD}t"
                child.text = "".join(self._sign(font, character) for character in text)
                self._given.append(child.text)
            elif name == "sdt" and child.find("{*}sdtPr/{*}checkbox") is not None:
                continue
            elif not name.endswith("Pr"):
                self._given.append(" " * (name in _APART or name.endswith("Reference")))
                if name.endswith("Reference") and name + value_of(child, "id") in self._notes:
                    continue
                if name == "AlternateContent":
                    boxed = [form for form in child if form.find(".//{*}txbxContent") is not None]
                    child[:] = boxed[:1] or child[-1:]
                if name in _READ_AS or "/wordprocessingml/" not in child.tag:
                    child.tag = _WORD + _READ_AS.get(name, "smartTag")
                    child.attrib.clear()
                if name == "tr":  # the columns that it has no cells in
                    child[:0] = _cells(child.find("{*}trPr/{*}gridBefore"))
                    child[len(child) :] = _cells(child.find("{*}trPr/{*}gridAfter"))
                bare_in = is_bare and name not in ("tbl", "txbxContent")
                self._take_out(child, is_bare=bare_in, is_unseen=is_unseen)

    def lost(self, text: str) -> list[str]:
        """Return what is said of words that were there to be read and are not in the text."""
        lost = Counter(_WORDS_OF.findall(seen("".join(self._given))))
        lost -= Counter(_WORDS_OF.findall(text))
        if not lost:
            return []
        some = ", ".join([*lost][:5]) + (" ..." if len(lost) > 5 else "")
        return [f"words that are in no text: {lost.total():,} ({some})"]

    def _is_unseen(self, run: Element, *, is_bare: bool, is_unseen: bool) -> bool:
        look = run.find("{*}rPr")
        if look is None:
            return is_unseen
        vanish, style = look.find("{*}vanish"), value_of(look.find("{*}rStyle"))
        if is_on(vanish) or (vanish is None and (is_unseen or style in self._unseen)):
            return True
        is_white = value_of(look.find("{*}color")).upper() == "FFFFFF"
        fills = (look.find(f"{{*}}{kind}") for kind in ("shd", "highlight"))
        return is_bare and is_white and style not in self._filled and not any(map(_fills, fills))

    def _sign(self, font: str, character: str) -> str:
        """Return the character that one of a font for symbols shows, boxes as crossed or empty."""
        code = ord(character)
        is_sign = 0xF000 <= code < 0xF100
        known = self._signs.get((font, code - 0xF000 * is_sign))
        return chr(known).translate(_BOXES) if known else "" if is_sign else character


def _cells(count: Element | None) -> list[Element]:
    return [Element(f"{_WORD}tc") for _ in range(min(int(value_of(count) or 0), _WIDEST))]


def _fills(node: Element | None) -> bool:
    return not {value_of(node), value_of(node, "fill").lower()} <= _NO_FILL


# --- OpenDocument, with the standard library's XML ---

#: Elements as those of a page, and those whose text no reader sees.
_TAGS = {"p": "p", "list": "ul", "list-item": "li", "list-header": "li", "table": "table"}
_TAGS |= {"table-header-rows": "thead", "table-row": "tr", "table-cell": "td", "text-box": "div"}
_UNSEEN = frozenset("annotation desc sequence-decls tracked-changes".split())
_HIDDEN = {"visibility": ("collapse", "filter"), "display": ("none", "false")}
_HIDDEN |= {"is-hidden": ("true", "1")}
_TAG = re.compile("<[^<>]*+>")


class _Package:
    """The content of an OpenDocument file without namespaces, and what of it is hidden."""

    def __init__(self, package: ZipFile) -> None:
        self.content = _bare(package.read("content.xml"))
        self._unseen, self._raised = set[str](), set[str]()
        self.hidden = 0
        self.notes: list[str] = []
        roots = (_bare(package.read("styles.xml")), self.content)
        styles = [s for root in roots for s in (*root.iter("style"), *root.iter("page-layout"))]
        # White text is hidden where nothing in the file is filled.
        is_bare = all(
            part.get("background-color", "transparent") == "transparent"
            and part.get("fill", "none") == "none"
            for style in styles
            for part in style
        )
        looks: dict[str, dict[str, str]] = {}
        for style in styles * 10:  # as deep as they build on one another
            own = {name: value for part in style for name, value in part.attrib.items()}
            looks[style.get("name", "")] = looks.get(style.get("parent-style-name", ""), {}) | own
        for name, look in looks.items():
            if self.is_hidden(look) or (is_bare and look.get("color", "").lower() == "#ffffff"):
                self._unseen.add(name)
            if re.match("super|[1-9]", look.get("text-position", "")):
                self._raised.add(name)

    def is_hidden(self, node: Element | dict[str, str]) -> bool:
        """Return whether an element says that it is hidden, or has a style that does."""
        said = any(node.get(name) in values for name, values in _HIDDEN.items())
        return said or node.get("style-name") in self._unseen

    def markup(self, node: Element) -> str:
        """Return an element as a part of a page; notes are kept for its end."""
        if node.tag in _UNSEEN or self.is_hidden(node):
            unseen = node if node.tag == "tracked-changes" else [node]
            self.hidden += sum(is_visible("".join(each.itertext())) for each in unseen)
            return ""
        if node.tag in ("s", "tab", "line-break"):
            return "<br>" if node.tag == "line-break" else " " * min(counted(node, "c"), 100)
        inner = [escape(node.text or "")]
        for child in node:
            part = self.markup(child)
            if child.get("style-name") in self._raised:
                part = raised("".join(inner[-2:]), part)
            inner += (part, escape(child.tail or ""))
        if node.tag == "note":
            note = "".join(inner[2:]).replace("<p>", "", 1)
            self.notes.append(f"<p>[{inner[1]}] {note}")
            return f"[{inner[1]}]"
        level = min(counted(node, "outline-level"), 6)
        tag = f"h{level}" if node.tag == "h" else _TAGS.get(node.tag)
        across, down = (counted(node, f"number-{kind}-spanned") for kind in ("columns", "rows"))
        spans = f" colspan={across} rowspan={down}" if tag == "td" else ""
        return f"<{tag}{spans}>{''.join(inner)}</{tag}>" if tag else "".join(inner)


def read_open_document(data: bytes, where: str) -> SourceDocument:
    """Return a text, notes last, or sheets (ISO dates), no deletions, comments, hidden parts."""
    from kgp_neo4j.corpus.load.html import read_page

    odf = _Package(ZipFile(io.BytesIO(data)))
    sheets = Blocks()
    for table in odf.content.iterfind("body/spreadsheet/table"):
        grid = None if odf.is_hidden(table) else _grid(odf, table)
        add_sheet(sheets, table.get("name", ""), *grid or ())
    texts = [odf.markup(text) for text in odf.content.iterfind("body/text")]
    if not texts:
        sheets.left_out += odf.notes
        return sheets.document(where)
    document = read_page("".join((*texts, *odf.notes)), where)
    return replace(document, left_out=(*document.left_out, *hidden_parts(odf.hidden)))


def _bare(data: bytes) -> Element:
    root = ElementTree.fromstring(data)
    for node in root.iter():
        # A picture's title is no text that is shown, unlike a text's.
        node.tag = bare(node.tag.replace("svg-compatible:1.0}title", "}desc"))
        node.attrib = {bare(name): value for name, value in node.attrib.items()}
    return root


def _grid(odf: _Package, table: Element) -> tuple[list[list[str]], Layout]:
    """Return a sheet's texts, and what else it has."""
    rows: list[list[str]] = []
    layout = Layout()
    at = down = cells = 0
    for column in table.iter("table-column"):
        repeated = min(counted(column, "number-columns-repeated"), MOST_CELLS)
        layout.columns.update(range(at, at + repeated) if odf.is_hidden(column) else ())
        at += repeated
    for line in table.iter("table-row"):
        texts: list[str] = []
        across = 0
        for cell in line:
            repeated = counted(cell, "number-columns-repeated")
            date = cell.get("date-value", "").removesuffix("T00:00:00").replace("T", " ")
            if text := date or seen(unescape(_TAG.sub("\n", odf.markup(cell)))).strip():
                cells += across + repeated - len(texts)
                if cells > MOST_CELLS:
                    raise too_large()
                texts += [""] * (across - len(texts)) + [text] * repeated
                size = [counted(cell, f"number-{kind}-spanned") for kind in ("rows", "columns")]
                if size != [1, 1]:
                    layout.merged.append(Span(down, across, *size))
            across += repeated
        repeated = counted(line, "number-rows-repeated")
        if texts:
            cells += (down - len(rows)) + (repeated - 1) * len(texts)
            if cells > MOST_CELLS:
                raise too_large()
            layout.rows.update(range(down, down + repeated) if odf.is_hidden(line) else ())
            rows += [[]] * (down - len(rows)) + [texts] * repeated
        down += repeated
    if any(part.tag in ("shapes", "object") for part in table.iter()):
        odf.notes.append("charts or text boxes that lie on a sheet are not read")
    layout.cells, odf.hidden = odf.hidden, 0
    return rows, layout


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
