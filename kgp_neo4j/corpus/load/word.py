"""Read Word files as pages, without what their readers do not see."""

import io
import re
from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement
from zipfile import ZipFile

from kgp_neo4j.corpus.load.contents import hidden_parts
from kgp_neo4j.text.visible import is_visible
from kgp_neo4j.types.corpus import SourceDocument

_TEXTS = re.compile(r"word/(?:document\d*|footnotes|endnotes)\.xml")
_BACK = re.compile(r' *<a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_word(data: bytes, where: str) -> SourceDocument:
    """Return title, text and tables of a Word file, converted to HTML first.

    Footnotes and endnotes come last. Deletions that are tracked, comments, hidden text, and white
    text where nothing is filled are left out.
    """
    import mammoth

    from kgp_neo4j.corpus.load.html import read_page

    shown = io.BytesIO()
    with ZipFile(io.BytesIO(data)) as package, ZipFile(shown, "w") as copy:
        names = package.namelist()
        text = _Text(package.read("word/styles.xml") if "word/styles.xml" in names else b"<a/>")
        for name in names:
            if name.startswith("word/comments.xml"):
                text.hidden += len(re.findall(rb"<\w+:comment[ >]", package.read(name)))
            elif _TEXTS.fullmatch(name):
                copy.writestr(name, text.shown(package.read(name)))
            elif not name.startswith("word/media/"):
                copy.writestr(name, package.read(name))
    page = mammoth.convert_to_html(
        shown,
        style_map="p[style-name='Title'] => h1:fresh",
        convert_image=lambda image: [],  # pictures are not read, especially not linked ones
    )
    document = read_page(_BACK.sub("", page.value), where)
    return replace(document, left_out=(*document.left_out, *hidden_parts(text.hidden)))


class _Text:
    """Takes out of a file's texts what is hidden, and counts it; element names are bare here."""

    def __init__(self, styles: bytes) -> None:
        self.hidden = 0
        self._unseen: set[str] = set()
        self._filled: set[str] = set()
        for style in ElementTree.fromstring(styles).iterfind("{*}style"):
            name = _value(style, "styleId")
            if _is_on(style.find("{*}rPr/{*}vanish")):
                self._unseen.add(name)
            if style.find(".//{*}shd") is not None:
                self._filled.add(name)

    def shown(self, data: bytes) -> bytes:
        """Return the XML of a text without what is hidden."""
        root = ElementTree.fromstring(data)
        self._take_out(root, is_bare=root.find("{*}background") is None, is_unseen=False)
        return ElementTree.tostring(root)

    def _take_out(self, node: Element, *, is_bare: bool, is_unseen: bool) -> None:
        """Empty the runs in an element that are hidden; `is_bare` says that nothing is filled."""
        for child in node:
            name = _bare(child.tag)
            if name in ("del", "moveFrom"):
                self.hidden += is_visible("".join(child.itertext()))
            elif name == "p":
                style = _value(child.find("{*}pPr/{*}pStyle"))
                is_filled = style in self._filled or child.find("{*}pPr/{*}shd") is not None
                hides = is_unseen or style in self._unseen
                self._take_out(child, is_bare=is_bare and not is_filled, is_unseen=hides)
            elif name == "r" and (is_unseen or self._is_unseen(child, is_bare=is_bare)):
                self.hidden += is_visible("".join(child.itertext()))
                child.clear()
            elif name == "oMath":  # mammoth reads no formulas
                formula = "".join(child.itertext())
                _become(child, "r")
                SubElement(child, f"{_WORD}t").text = formula
            else:
                if name == "AlternateContent" and child.find("{*}Fallback") is None:
                    child[0].tag = child.tag.replace(name, "Fallback")
                elif name == "AlternateContent":
                    child[:] = child.findall("{*}Fallback")
                elif name == "drawing" and (box := child.find(".//{*}txbxContent")) is not None:
                    _become(child, "pict", box)  # mammoth reads the older kind of text box
                bare = is_bare and name not in ("tbl", "txbxContent")
                self._take_out(child, is_bare=bare, is_unseen=is_unseen)

    def _is_unseen(self, run: Element, *, is_bare: bool) -> bool:
        look = run.find("{*}rPr")
        if look is None:
            return False
        if _is_on(look.find("{*}vanish")) or _value(look.find("{*}rStyle")) in self._unseen:
            return True
        is_filled = look.find("{*}shd") is not None or look.find("{*}highlight") is not None
        white = _value(look.find("{*}color")).upper() == "FFFFFF"
        return white and is_bare and not is_filled


def _become(node: Element, name: str, *inner: Element) -> None:
    """Make an element one of Word's own of another name."""
    tail = node.tail
    node.clear()
    node.tag, node.tail, node[:] = _WORD + name, tail, inner


def _bare(name: str) -> str:
    return name.rpartition("}")[2]


def _value(node: Element | None, name: str = "val") -> str:
    values = node.attrib.items() if node is not None else ()
    return next((value for key, value in values if _bare(key) == name), "")


def _is_on(node: Element | None) -> bool:
    return node is not None and _value(node) not in ("0", "false", "off")
