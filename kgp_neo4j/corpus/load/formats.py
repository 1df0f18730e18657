"""Read one file of any known kind into documents, with an InputError for what cannot be used."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO

from kgp_neo4j.corpus.load import texts
from kgp_neo4j.corpus.load.office import OFFICE_KINDS, read_office
from kgp_neo4j.corpus.load.records import Reading, documents_of_records, read_values, texts_of_rows
from kgp_neo4j.environment.files import json_values, opened, read_whole, shown, stem
from kgp_neo4j.environment.job import bar
from kgp_neo4j.environment.kinds import PICTURES, advice, extension
from kgp_neo4j.text.safe import is_visible
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

_DEEPEST = 4
_RECORDS = (".jsonl", ".json")
#: Kinds that hold tables alone; their rows may be texts.
_ROWS = (".csv", ".tsv", ".xlsx", ".xls", ".ods")
_PAGES = (".html", ".htm", ".xhtml")
_READERS: dict[str, Callable[[str, str], SourceDocument]] = {
    **dict.fromkeys((".md", ".markdown"), texts.read_markdown),
    **dict.fromkeys((".adoc", ".asciidoc"), texts.read_asciidoc),
    **dict.fromkeys((".csv", ".tsv"), read_values),
    ".rst": texts.read_restructured_text,
}
#: Bytes of a text, and of a file whose reader has bounds of its own for what is packed in it.
_MOST_TEXT, _MOST_PACKED = 64 << 20, 512 << 20
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
    kind, name = extension(path), shown(path)
    files: list[tuple[str, bytes]] = []
    if kind in _RECORDS:
        yield from documents_of_records(path, json_values(file, path))
        return
    is_text = kind not in (".pdf", ".eml", *OFFICE_KINDS, *PICTURES)
    data = read_whole(file, name, _MOST_TEXT if is_text else _MOST_PACKED)
    if kind == ".pdf":
        from kgp_neo4j.corpus.load.pdf.document import read_pdf

        document = read_pdf(path, data)
    elif kind in PICTURES:
        document = _picture(path, data)
    elif kind == ".eml":
        from kgp_neo4j.corpus.load.mail import read_mail

        try:
            document, files = read_mail(data, name)
        except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
            raise InputError("a damaged mail", where=name) from error
        for attached, _ in (file for file in files if not _is_read(path / file[0])):
            reason = advice(path / attached) or "no kind of document that is known"
            left_out = (*document.left_out, f"attached {attached}: {reason}")
            document = replace(document, left_out=left_out)
    else:
        document = (read_office if kind in OFFICE_KINDS else _text)(kind, data, name)
    if not is_visible(document.text):
        hint = next((f"{why[0].upper()}{why[1:]}." for why in document.left_out), None)
        raise InputError("the file holds no text", where=name, hint=hint)
    document = replace(document, title=document.title or stem(path), source=path.as_posix())
    yield from texts_of_rows(document) if kind in _ROWS else (document,)
    for attached, content in files:
        if _is_read(path / attached):
            yield from _attached(path, attached, content)


def _picture(path: Path, data: bytes) -> SourceDocument:
    """Return the text recognised in a picture; each picture of a .tif file is a page."""
    from PIL import Image, ImageOps, ImageSequence

    from kgp_neo4j.corpus.load.pdf.document import read_pdf

    where = shown(path)
    pages = []
    try:
        with Image.open(BytesIO(data)) as picture:
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
    try:
        return read_pdf(path, scan.getvalue())
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


def _text(kind: str, data: bytes, name: str) -> SourceDocument:
    reader, declared = _READERS.get(kind, _prose), None
    if kind in _PAGES:
        from bs4.dammit import EncodingDetector

        from kgp_neo4j.corpus.load.html import read_page

        reader = read_page
        declared = EncodingDetector.find_declared_encoding(data[:4096], is_html=True)
    text, notes = texts.decoded(data, name, declared)
    document = reader(text, name)
    return replace(document, notes=(*notes, *document.notes))


def _prose(text: str, where: str) -> SourceDocument:
    """Return a text as a document, whose title is the first line where it reads like one."""
    first = _FIRST_LINE.match(text)
    line = " ".join(first[1].split()) if first else ""
    letters = sum(letter.isalpha() for letter in line)
    is_title = 2 * letters > len(line) and not line[0].islower() and line.isprintable()
    title = line if is_title and line[-1] not in ".,;:!。，；：！" else ""
    return SourceDocument(title, text, where)
