"""Read Word and OpenDocument files as pages or sheets, without what their readers do not see."""

import io
import re
from collections import Counter
from dataclasses import replace
from html import escape, unescape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement
from zipfile import ZipFile

from kgp_neo4j.corpus.load.contents import Blocks, counted, hidden_parts
from kgp_neo4j.corpus.load.notation import Numbers, bare, is_on, linear, raised, value_of
from kgp_neo4j.corpus.load.sheets import MOST_CELLS, Layout, add_sheet, too_large
from kgp_neo4j.text.safe import is_visible, seen
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import Span

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
