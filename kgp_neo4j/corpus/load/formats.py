"""Read one file of any known kind into documents.

A reader yields a SourceDocument, or an InputError for what cannot be used, and continues. The
caller decides whether to stop at the first error.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeAlias

from kgp_neo4j.corpus.load.csv_files import read_values
from kgp_neo4j.corpus.load.datasets import RecordReader
from kgp_neo4j.corpus.load.markdown import read_markdown
from kgp_neo4j.corpus.load.office import OFFICE_KINDS, read_office
from kgp_neo4j.environment.files import (
    Value,
    extension,
    opened,
    read_array,
    read_lines,
    read_object,
    read_whole,
    shown,
    stem,
)
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceSection, SourceTable

__all__ = ["Reading", "read"]

Reading: TypeAlias = SourceDocument | InputError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
#: Bytes of a text, and of a file whose reader has bounds of its own for what is packed in it.
_MOST_TEXT, _MOST_PACKED = 64 << 20, 512 << 20
#: A first line before an empty line, with text below it.
_FIRST_LINE = re.compile(
    r"\s*(?P<line>\S.{0,98}\S)[ \t]*\r?\n(?:[=\-_*]{3,}[ \t]*\r?\n)?[ \t]*\r?\n\s*\S"
)


def read(path: Path, progress: Progress) -> Iterator[Reading]:
    """Yield the documents of a file, and an InputError for each record that is none.

    `.jsonl` and `.json` files have records or questions with their contexts; files of all other
    kinds are one document. An error of the whole file (damaged, in a wrong encoding) ends it.
    """
    kind = extension(path)
    try:
        with opened(path, progress) as file:
            if kind in (".jsonl", ".json"):
                start = file.peek(4096)  # type: ignore[attr-defined]
                values = _reader(kind, start)(file, shown(path))
                yield from RecordReader(path).documents(values)
                return
            packed = kind == ".pdf" or kind in OFFICE_KINDS
            data = read_whole(file, shown(path), _MOST_PACKED if packed else _MOST_TEXT)
        yield _whole_file(path, kind, data)
    except InputError as error:
        yield error


def _reader(kind: str, start: bytes) -> Callable[[IO[bytes], str], Iterator[Value]]:
    """Return the reader for the values of a JSON file; `start` is its first few thousand bytes."""
    if kind == ".json" and _first_character(start) == b"[":
        return read_array
    # An object over several lines: read as lines, each of them would be an error.
    first = start.removeprefix(codecs.BOM_UTF8).lstrip().split(b"\n", 1)[0].strip()
    return read_object if kind == ".json" and first == b"{" else read_lines


def _whole_file(path: Path, kind: str, data: bytes) -> SourceDocument:
    if kind in OFFICE_KINDS:
        return read_office(path, kind, data)
    if kind == ".pdf":
        from kgp_neo4j.corpus.load.pdf.document import read_pdf

        return read_pdf(path, data)
    text = decoded(data, path, html=kind in (".html", ".htm"))
    title = ""
    tables: tuple[SourceTable, ...] = ()
    sections: tuple[SourceSection, ...] = ()
    left_out: tuple[str, ...] = ()
    if kind == ".md":
        title, sections, tables = read_markdown(text)
    elif kind in (".csv", ".tsv"):
        text, tables, left_out = read_values(text, shown(path))
    elif kind in (".html", ".htm"):
        from kgp_neo4j.corpus.load.html import read_page

        page = read_page(text, shown(path))
        title, text, tables, left_out = page.title, page.text, page.tables, page.left_out
        sections = page.sections
    else:
        title = _first_line(text)
    if not text.strip():
        raise InputError("the file holds no text", where=shown(path))
    return SourceDocument(
        title=title or stem(path),
        text=text,
        source=path.as_posix(),
        tables=tables,
        left_out=left_out,
        sections=sections,
    )


def decoded(data: bytes, path: Path, *, html: bool = False) -> str:
    """Return the bytes of a file as text: UTF-8, or as its byte order mark or HTML head declares.

    Raises InputError with line and byte for bytes that are not text in that encoding.
    """
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "")
    if not encoding and html and (found := _CHARSET.search(data, 0, 4096)):
        encoding = found[1].decode("ascii", "replace")
        try:
            codecs.lookup(encoding)
        except LookupError:
            encoding = ""
    encoding = encoding or "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        line = data.count(b"\n", 0, at) + 1
        raise InputError(
            f"byte {at} is not {encoding} text",
            where=f"{shown(path)}:{line}",
            hint="Save the file as UTF-8.",
        ) from error


def _first_line(text: str) -> str:
    """Return the first line of a text where it reads like a title, or an empty text.

    A title is followed by an empty line, ends no sentence, and has words rather than numbers.
    """
    found = _FIRST_LINE.match(text.removeprefix("\ufeff"))
    line = " ".join(found["line"].split()) if found else ""
    words = sum(letter.isalpha() for letter in line)
    is_title = (
        2 * words > len(line) and line[-1:] not in ".,;:!。，；：！" and not line[0].islower()
    )
    return line if is_title and line.isprintable() else ""


def _first_character(data: bytes) -> bytes:
    return data.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
