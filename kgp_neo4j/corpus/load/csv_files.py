"""Read a file of separated values as one table."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, takewhile
from typing import Any

from kgp_neo4j.corpus.load.contents import Blocks
from kgp_neo4j.corpus.load.grid import header_rows, number
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceTable

#: The surest first: few texts have the same number of tabs or bars in each line.
_DELIMITERS = ("\t", "|", ";", ",")
_NONE = "\x1f"  # stands in no text
_SAMPLE = 1 << 16
_MOST_REPORTED = 10  # ragged lines that are reported one by one
_PREAMBLE = 10  # lines above the header that may be a title
_SEP = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)
_VALUE = re.compile(r'[^\s"|;,]')
_LONE = re.compile(r'\\(["\\])|\\')
#: Ends the text: it is read as a separate record unless a quote is open. No text has NUL.
_END = "\0"

Record = tuple[int, list[str]]


def read_values(text: str, where: str) -> SourceDocument:
    """Return a file of separated values: Markdown of its one table, and notes of corrections.

    Lines of one cell above the header become the caption, empty lines are dropped, short ones
    padded. Raises InputError for a quote that is never closed, and a file without values.
    """
    named = _SEP.match(text)
    text = text[named.end() :] if named else text
    limit = csv.field_size_limit(max(len(text), 1 << 17))
    try:
        separator = named[1] if named else _separator(text)
        escaped = False
        if '\\"' in text:  # a backslash escapes a quote where that leaves no fault
            with suppress(csv.Error):
                escaped = sum(1 for _ in _reader(text, separator, escaped=True, strict=True)) > 0
        records = list(_records(text, separator, escaped, where, 2 if named else 1))
    except csv.Error as error:
        raise InputError(f"not separated values ({error})", where=where) from error
    finally:
        csv.field_size_limit(limit)
    if not records or not _VALUE.search(text):
        raise InputError("the file holds no text", where=where)
    table, ragged = _table(records, separator)
    blocks = Blocks()
    blocks.add_table(table)
    return blocks.document(where, notes=ragged)


def _table(records: list[Record], separator: str) -> tuple[SourceTable, tuple[str, ...]]:
    usual = Counter(len(fields) for _, fields in records).most_common(1)[0][0]
    above = records[: min(_PREAMBLE, len(records) - 2) if usual > 2 else 0]
    titles = [r[0].strip() for _, r in takewhile(lambda above: _filled(above[1]) == 1, above)]
    records = records[len(titles) :]
    longest = max(_filled(fields) for _, fields in records)
    width = min(longest, max(len(records[0][1]), usual))
    ragged = []
    rows = []
    for line, fields in records:
        filled = _filled(fields)
        if filled > width:
            ragged.append(f"line {line} is kept, fields {width} to {filled} as one")
            fields = [*fields[: width - 1], separator.join(fields[width - 1 : filled])]
        elif len(fields) < width:
            ragged.append(f"line {line} is kept with {len(fields)} of {width} fields")
        rows.append((*map(str.strip, fields[:width]), *("",) * (width - len(fields))))
    if (more := len(ragged) - _MOST_REPORTED) > 0:
        ragged[_MOST_REPORTED:] = [f"{more:,} more lines with another number of fields are kept"]
    title = ". ".join(line.rstrip(".") for line in titles)
    return SourceTable(tuple(rows), header_rows(rows), title, number(title)), tuple(ragged)


def _filled(fields: list[str]) -> int:
    """Return the number of fields up to the last non-empty one."""
    return next((at for at in range(len(fields), 0, -1) if fields[at - 1].strip()), 0)


def _records(text: str, separator: str, escaped: bool, where: str, line: int) -> Iterator[Record]:
    """Yield each nonempty record's line and fields; raises InputError for a quote left open."""
    reader = _reader(text, separator, escaped)
    began = line
    for fields in reader:
        if fields == [_END]:
            return
        if fields and fields[-1].endswith(_END):
            if separator != "\t":  # beside tabs, a quote may be part of a value
                break
            rest = [*io.StringIO(text, newline="")][began - line :]
            yield from ((at, row.split("\t")) for at, row in enumerate(rest, began) if row.strip())
            return
        if any(map(str.strip, fields)):
            yield began, [field.replace("\r\n", "\n") for field in fields]
        began = line + reader.line_num
    what = "a quote opens in this record and is never closed"
    hint = 'Close it, or write a quote within quotes as "".'
    raise InputError(what, where=f"{where}:{began}", hint=hint)


def _reader(text: str, separator: str, escaped: bool, *, strict: bool = False) -> Any:
    if escaped:  # csv removes the backslash before any character
        text = _LONE.sub(lambda escape: escape[0] if escape[1] else r"\\", text)
    return csv.reader(
        chain(io.StringIO(text, newline=""), [_END]),
        delimiter=separator,
        escapechar="\\" if escaped else None,
        skipinitialspace=f'{separator} "' in text,
        strict=strict,
    )


def _separator(text: str) -> str:
    """Return the separator that splits most of the first lines alike, `_NONE` for one column."""
    sample = text if len(text) <= _SAMPLE else text[: text.rfind("\n", 0, _SAMPLE) + 1 or _SAMPLE]
    shares = {_NONE: 0.0}
    for separator in _DELIMITERS:
        reader = _reader(sample, separator, '\\"' in sample)
        lines = [len(fields) for fields in reader if any(fields) and fields != [_END]]
        wide = [width for width in lines if width > 1]
        if lines[:1] == [1] and sample.count(separator) == sample.count(f"{separator} "):
            continue  # prose, as "Oil, gas" below "Industry"
        if wide and len(wide) >= (0.5 if lines[0] > 1 else 0.6) * len(lines):
            shares[separator] = Counter(wide).most_common(1)[0][1] / len(lines)
    return max(shares, key=lambda separator: shares[separator])
