"""Read the chapters of an electronic book (EPUB) as one page."""

import io
import posixpath
from contextlib import suppress
from dataclasses import replace
from urllib.parse import unquote
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from kgp_neo4j.corpus.load.encodings import decoded
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

_MOST = 16 << 20  # bytes of a chapter


def read_book(data: bytes, where: str) -> SourceDocument:
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
            if package.getinfo(part).file_size <= _MOST:
                return decoded(package.read(part), where)[0]
        lost.append(f"{name} is missing or cannot be read")
        return ""

    styles = [text(item) for item in items.values() if item.get("media-type") == "text/css"]
    chapters = [text(items.get(ref.get("idref"), ref)) for ref in book.iterfind("{*}spine/*")]
    page = read_page("".join((*(f"<style>{style}</style>" for style in styles), *chapters)), where)
    title = book.findtext("{*}metadata/{http://purl.org/dc/elements/1.1/}title") or page.title
    return replace(page, title=" ".join(title.split()), left_out=(*page.left_out, *lost))
