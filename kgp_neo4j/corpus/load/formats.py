"""Read one file of any known kind into documents.

A reader yields a SourceDocument, or an InputError for what cannot be used, and continues. The
caller decides whether to stop at the first error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from kgp_neo4j.corpus.load.csv_files import read_values
from kgp_neo4j.corpus.load.datasets import documents_of_records
from kgp_neo4j.corpus.load.encodings import decoded
from kgp_neo4j.corpus.load.markdown import read_markdown
from kgp_neo4j.corpus.load.office import OFFICE_KINDS, read_office
from kgp_neo4j.environment.files import (
    json_values,
    opened,
    read_whole,
    shown,
    stem,
)
from kgp_neo4j.environment.kinds import PICTURES, extension
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.text.visible import is_visible
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

Reading: TypeAlias = SourceDocument | InputError

_PAGES = (".html", ".htm", ".xhtml")
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
    kind, name = extension(path), shown(path)
    try:
        with opened(path, progress) as file:
            if kind in (".jsonl", ".json"):
                yield from documents_of_records(path, json_values(file, path))
                return
            if kind in (".ods", ".odt", ".epub", ".eml", *PICTURES):
                raise InputError(f"{kind} files are not read yet", where=name)
            packed = kind == ".pdf" or kind in OFFICE_KINDS
            data = read_whole(file, name, _MOST_PACKED if packed else _MOST_TEXT)
        if kind == ".pdf":
            from kgp_neo4j.corpus.load.pdf.document import read_pdf

            yield read_pdf(path, data)
            return
        document = read_office(kind, data, name) if packed else _read_text(kind, data, name)
        if not is_visible(document.text):
            hint = f"It has {document.left_out[0]}." if document.left_out else None
            raise InputError("the file holds no text", where=name, hint=hint)
        yield replace(document, title=document.title or stem(path), source=path.as_posix())
    except InputError as error:
        yield error


def _read_text(kind: str, data: bytes, name: str) -> SourceDocument:
    declared = None
    if kind in _PAGES:
        from bs4.dammit import EncodingDetector

        declared = EncodingDetector.find_declared_encoding(data[:4096], is_html=True)
    text, notes = decoded(data, name, declared)
    document = _text_document(kind, text, name)
    return replace(document, notes=(*notes, *document.notes))


def _text_document(kind: str, text: str, name: str) -> SourceDocument:
    if kind in (".md", ".markdown"):
        return read_markdown(text, name)
    if kind in (".csv", ".tsv"):
        return read_values(text, name)
    if kind in _PAGES:
        from kgp_neo4j.corpus.load.html import read_page

        return read_page(text, name)
    return SourceDocument(_first_line(text), text, name)


def _first_line(text: str) -> str:
    """Return the first line of a text where it reads like a title, or an empty text.

    A title is followed by an empty line, ends no sentence, and has words rather than numbers.
    """
    first = _FIRST_LINE.match(text)
    line = " ".join(first["line"].split()) if first else ""
    letters = sum(letter.isalpha() for letter in line)
    is_title = (
        2 * letters > len(line) and line[-1:] not in ".,;:!。，；：！" and not line[0].islower()
    )
    return line if is_title and line.isprintable() else ""
