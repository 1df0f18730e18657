"""Read OpenDocument texts and sheets (.odt, .ods), with the standard library's XML."""

import io
import re
from dataclasses import replace
from html import escape, unescape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from kgp_neo4j.corpus.load.contents import Blocks, counted, hidden_parts
from kgp_neo4j.corpus.load.notation import bare, raised
from kgp_neo4j.corpus.load.sheets import MOST_CELLS, Layout, add_sheet, too_large
from kgp_neo4j.text.safe import is_visible, seen
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import Span

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
