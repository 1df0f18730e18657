"""Cuts files of separated values into rows, each with the line that it begins on."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from kgp_neo4j.errors import InputError
from kgp_neo4j.load.files import shown

__all__ = ["Row", "is_encoding", "rows_of"]

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SEPARATORS = (",", ";", "|")
#: Of one field: a whole page of text is well below it.
_LONGEST_FIELD = 1 << 24


class Row(NamedTuple):
    """The fields of a record, and the line where it begins, counted from 1."""

    line: int
    fields: list[str]


def is_encoding(name: str) -> bool:
    """Say whether a name is that of a text encoding."""
    try:
        b"a".decode(name)  # of nothing at all, no name is looked up
    except LookupError:
        return False
    except UnicodeDecodeError:
        return True
    return True


def rows_of(
    file: IO[bytes], path: Path, *, encoding: str = "", separator: str = ""
) -> Iterator[Row | InputError]:
    """Yield the records of a file that are not empty; an InputError for one that cannot be read.

    The encoding is UTF-8, or UTF-16 where the file's mark says so, unless one is given. Fields are
    separated by tabs where the first line has one, else by what cuts it into most fields of comma,
    semicolon and bar. Quotes count where the separator is no tab: names in tab files have
    quotes of their own.
    """
    lines = _lines(file, path, encoding)
    first = next((line for line in lines if line[1].strip()), None)
    if first is None:
        return
    separator = separator or _separator_of(first[1])
    if separator == "\t":
        for number, line in _again(first, lines):
            if line.strip():
                yield Row(number, line.rstrip("\r\n").split("\t"))
        return
    with _long_fields():
        yield from _quoted(_again(first, lines), path, separator)


def _again(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _separator_of(line: str) -> str:
    if "\t" in line:
        return "\t"
    counts = {mark: len(next(csv.reader([line], delimiter=mark))) for mark in _SEPARATORS}
    return max(_SEPARATORS, key=lambda mark: counts[mark])


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _quoted(
    lines: Iterator[tuple[int, str]], path: Path, separator: str
) -> Iterator[Row | InputError]:
    """Yield records in which quotes may hold separators and line ends."""
    began = last = 0

    def texts() -> Iterator[str]:
        nonlocal began, last
        for number, line in lines:
            began, last = began or number, number
            yield line

    reader = csv.reader(texts(), delimiter=separator, strict=True, skipinitialspace=True)
    while True:
        began = 0
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = f"not separated values ({error})"
            hint = 'Close every quote, and write a quote within quotes as "".'
            yield InputError(reason, where=f"{shown(path)}:{began or last}", hint=hint)
            continue
        if any(field.strip() for field in fields):
            yield Row(began, fields)


def _lines(file: IO[bytes], path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers; raises InputError for what is no text."""
    start = file.peek(4)[:4]  # type: ignore[attr-defined]
    name = encoding or ("utf-16" if start[:2] in _UTF16 else "utf-8")
    if codecs.lookup(name).name.startswith(("utf-16", "utf-32")):
        # A line end is more than one byte there.
        data = file.read()
        try:
            text = io.StringIO(data.decode(name).removeprefix("\ufeff"), newline="")
        except UnicodeDecodeError as error:
            raise _undecodable(path, 0, name, error) from error
        yield from enumerate(text, 1)
        return
    decode = codecs.getdecoder(name)
    for number, data in enumerate(file, 1):
        try:
            line = decode(data)[0]
        except UnicodeDecodeError as error:
            raise _undecodable(path, number, name, error) from error
        if number == 1:
            line = line.removeprefix("\ufeff")
        if "\0" in line:
            raise InputError("a NUL character, which is no text", where=f"{shown(path)}:{number}")
        yield number, line


def _undecodable(path: Path, line: int, encoding: str, error: UnicodeDecodeError) -> InputError:
    place = f"byte {error.start} of the line" if line else f"byte {error.start}"
    return InputError(
        f"{place} is not {encoding} text",
        where=f"{shown(path)}:{line}" if line else shown(path),
        hint="Name the file's encoding (--encoding, or `encoding` of the mapping), or save it as "
        "UTF-8.",
    )
