"""Read one file of any known kind into documents, with an InputError for what cannot be used.

A loader is called with an open file and its path, and gives one document, or several with faults.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO

from kgp_neo4j.corpus.load import texts
from kgp_neo4j.corpus.load.office import read_office
from kgp_neo4j.corpus.load.records import Reading, documents_of_records, read_values, texts_of_rows
from kgp_neo4j.environment.files import MOST_PACKED, json_values, opened, read_whole, shown, stem
from kgp_neo4j.environment.job import bar
from kgp_neo4j.environment.kinds import advice, extension
from kgp_neo4j.plugins import load_plugin
from kgp_neo4j.text.safe import is_visible
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

_DEEPEST = 4
#: Dots per inch where a picture does not say.
_USUAL = 150
#: A first line before an empty line, with text below it.
_FIRST_LINE = re.compile(r"\s*(\S.{0,98}\S)[ \t]*\r?\n(?:[=\-_*]{3,}[ \t]*\r?\n)?[ \t]*\r?\n\s*\S")


def read(path: str | Path) -> Iterator[Reading]:
    """Yield the documents of a file, and an InputError for each record that is none.

    `.jsonl` and `.json` files have records or questions with their contexts; files of all other
    kinds are one document, and mails have the files attached to them.
    """
    path = Path(path)
    try:
        with bar("", None) as progress, opened(path, progress) as file:
            yield from _documents(file, path)
    except InputError as error:
        yield error


def _documents(file: IO[bytes], path: Path) -> Iterator[Reading]:
    given = load_plugin("loader", extension(path)[1:])(file, path)
    if isinstance(given, SourceDocument):
        yield _finished(given, path)
        return
    for each in given:
        if isinstance(each, SourceDocument) and not (each.title and each.source):
            title, source = each.title or stem(path), each.source or path.as_posix()
            each = replace(each, title=title, source=source)
        yield each


def _finished(document: SourceDocument, path: Path) -> SourceDocument:
    """Return what a file holds with its name; raises InputError where that is no text."""
    if not is_visible(document.text):
        hint = next((f"{why[0].upper()}{why[1:]}." for why in document.left_out), None)
        raise InputError("the file holds no text", where=shown(path), hint=hint)
    return replace(document, title=document.title or stem(path), source=path.as_posix())


def records(file: IO[bytes], path: Path) -> Iterator[Reading]:
    """Yield the documents of records, or of questions with their contexts."""
    yield from documents_of_records(path, json_values(file, path))


def office(file: IO[bytes], path: Path) -> SourceDocument:
    """Return what an office file holds."""
    name = shown(path)
    return read_office(extension(path), read_whole(file, name, MOST_PACKED), name)


def sheets(file: IO[bytes], path: Path) -> Iterator[Reading]:
    """Yield the sheets of an office file, and the texts that its rows are."""
    yield from texts_of_rows(_finished(office(file, path), path))


def mail(file: IO[bytes], path: Path) -> Iterator[Reading]:
    """Yield a mail, and the documents of the files attached to it."""
    from kgp_neo4j.corpus.load.mail import read_mail

    name = shown(path)
    try:
        document, files = read_mail(read_whole(file, name, MOST_PACKED), name)
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise InputError("a damaged mail", where=name) from error
    for attached, _ in (file for file in files if not _is_read(path / file[0])):
        reason = advice(path / attached) or "no kind of document that is known"
        left_out = (*document.left_out, f"attached {attached}: {reason}")
        document = replace(document, left_out=left_out)
    yield _finished(document, path)
    for attached, content in files:
        if _is_read(path / attached):
            yield from _attached(path, attached, content)


def picture(file: IO[bytes], path: Path) -> SourceDocument:
    """Return the text recognised in a picture; each picture of a .tif file is a page."""
    from PIL import Image, ImageOps, ImageSequence

    from kgp_neo4j.corpus.load.pdf.document import read_pdf

    where = shown(path)
    data = BytesIO(read_whole(file, where, MOST_PACKED))
    pages = []
    try:
        with Image.open(data) as picture:
            dots = float(picture.info.get("dpi", (_USUAL,))[0])
            for frame in ImageSequence.Iterator(picture):
                if frame.mode.startswith("I"):  # greys of 16 bits
                    frame = frame.point(lambda grey: grey / 256).convert("L")
                turned = ImageOps.exif_transpose(frame).convert("RGBA")
                paper = Image.new("RGBA", turned.size, "white")
                pages.append(Image.alpha_composite(paper, turned).convert("RGB"))
    except Image.DecompressionBombError as error:
        raise InputError("a picture too large to be read", where=where, hint="Split it.") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError("no picture, or a damaged one", where=where) from error
    scan = BytesIO()
    dots = dots if 72 <= dots <= 600 else _USUAL
    pages[0].save(scan, "PDF", save_all=True, append_images=pages[1:], resolution=dots, quality=95)
    scan.seek(0)
    try:
        return read_pdf(scan, path)
    except InputError as error:
        hint = error.hint if "ocr" in str(error) else None
        raise InputError("no text is recognised in the picture", where=where, hint=hint) from error


def _is_read(attached: Path) -> bool:
    return bool(extension(attached)) and not attached.name.lower().endswith(".gz")


def _attached(mail: Path, name: str, data: bytes) -> Iterator[Reading]:
    """Yield the documents of a file attached to a mail, which is their source."""
    if str(mail).lower().count(".eml/") > _DEEPEST:
        raise InputError("a mail within too many others", where=shown(mail / name))
    try:
        for reading in _documents(BufferedReader(BytesIO(data)), mail / name):
            if isinstance(reading, SourceDocument):
                key = f"{name} {reading.key}".strip()
                reading = replace(reading, source=mail.as_posix(), key=key)
            yield reading
    except InputError as error:
        yield error


def _of_text(
    read: Callable[[str, str], SourceDocument],
    file: IO[bytes],
    path: Path,
    declared: Callable[[bytes], str | None] = lambda _: None,
) -> SourceDocument:
    """Return what is read of a text, which is decoded as it may have `declared`."""
    name = shown(path)
    data = read_whole(file, name)
    text, notes = texts.decoded(data, name, declared(data))
    document = read(text, name)
    return replace(document, notes=(*notes, *document.notes))


def page(file: IO[bytes], path: Path) -> SourceDocument:
    """Return a page of HTML."""
    from bs4.dammit import EncodingDetector

    from kgp_neo4j.corpus.load.html import read_page

    find = EncodingDetector.find_declared_encoding
    return _of_text(read_page, file, path, lambda data: find(data[:4096], is_html=True))


def values(file: IO[bytes], path: Path) -> Iterator[Reading]:
    """Yield a table of separated values, and the texts that its rows are."""
    yield from texts_of_rows(_finished(_of_text(read_values, file, path), path))


def _prose(text: str, where: str) -> SourceDocument:
    """Return a text as a document, whose title is the first line where it reads like one."""
    first = _FIRST_LINE.match(text)
    line = " ".join(first[1].split()) if first else ""
    letters = sum(letter.isalpha() for letter in line)
    is_title = 2 * letters > len(line) and not line[0].islower() and line.isprintable()
    title = line if is_title and line[-1] not in ".,;:!。，；：！" else ""
    return SourceDocument(title, text, where)


prose = partial(_of_text, _prose)
markdown = partial(_of_text, texts.read_markdown)
asciidoc = partial(_of_text, texts.read_asciidoc)
restructured_text = partial(_of_text, texts.read_restructured_text)
