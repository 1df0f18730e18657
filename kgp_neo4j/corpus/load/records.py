"""Turn records into documents: {title, text}, questions with their contexts, and tables.

Records that are no documents are the rows of a table, as are the lines of separated values; rows
that hold texts are documents each.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, takewhile, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from kgp_neo4j.corpus.load.contents import Blocks, column_names, header_rows, number
from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.environment.files import Value, shown, stem
from kgp_neo4j.text.safe import is_storable, is_visible
from kgp_neo4j.text.words import is_prose
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceTable

#: A document, or what is wrong with one.
Reading: TypeAlias = SourceDocument | InputError

#: Keys that only the questions of 2WikiMultihopQA have; HotpotQA's lack them.
_TWO_WIKI_KEYS = frozenset(("answer_id", "entity_ids", "evidences", "evidences_id"))
#: The keys that have a record's text; articles of MultiHop-RAG have a body.
_TEXTS = ("text", "body")
_EXPECTED = (
    'Expected are {"title", "text"} records, the questions of HotpotQA, 2WikiMultihopQA '
    '("context") or MuSiQue ("paragraphs"), or several objects, which are the rows of a table.'
)
#: Names of values in one table, and its cells, at most.
_WIDEST, _MOST_CELLS = 1_000, 3_000_000
#: Characters that a column's texts have in the mean where each row is a text of its own.
_LONG = 120
_SAMPLE = 200
#: A number whose point could part thousands, if it were not JSON's.
_UNCLEAR = re.compile(r"-?\d{1,3}\.\d{3}")


class _MusiqueParagraph(msgspec.Struct):
    title: str
    paragraph_text: str


def documents_of_records(path: Path, values: Iterable[Value]) -> Iterator[Reading]:
    """Yield the documents of values, an InputError for unusable ones; equal titles are numbered.

    In a file without documents the objects are the rows of a table, and one object that holds lists
    of objects is a table for each.
    """
    titles: Counter[str] = Counter()
    records: list[tuple[dict[str, Any], str]] = []
    where, is_told = "", False
    for value, where in values:
        try:
            if isinstance(value, InputError):
                raise value
            if not isinstance(value, dict):
                raise InputError("not a record", where=where, hint=_EXPECTED)
            name = next((key for key in _TEXTS if key in value), "") if "title" in value else ""
            found: Iterable[SourceDocument]
            if name:
                found = [_record(value, name, where, path.as_posix(), titles)]
            elif "question" in value and ("paragraphs" in value or "context" in value):
                found = _contexts(value, where)
            elif is_told:
                raise _no_document(value, where)
            else:
                records.append((value, where))
                continue
            for document in found:
                is_told = True
                yield document
        except InputError as error:
            yield error
    if not where:
        yield InputError("the file holds no record", where=shown(path), hint=_EXPECTED)
    first = records[0][0] if len(records) == 1 else {}
    lists = [
        (name, rows)
        for name, member in _members(first)
        if isinstance(member, list) and (rows := [each for each in member if type(each) is dict])
    ]
    is_untold = all(value.keys() <= {"title", *_TEXTS} for value, _ in records)
    if is_told or is_untold or (len(records) == 1 and not lists):
        for value, where in records:
            yield _no_document(value, where)
        return
    blocks = Blocks()
    named = {name for name, _ in lists}
    others = ((name, _text(each)) for name, each in _members(first) if name not in named)
    blocks.add("\n".join(f"{name}: {text}" for name, text in others if text))
    for name, rows in lists or [("", [value for value, _ in records])]:
        blocks.add_table(_table(rows, name, shown(path)))
    yield from texts_of_rows(blocks.document(path.as_posix(), stem(path)))


def _no_document(value: dict[str, Any], where: str) -> InputError:
    missing = "title" if "text" in value else "text"
    return InputError(f'the record has no "{missing}"', where=where, hint=_EXPECTED)


def _contexts(question: dict[str, Any], where: str) -> Iterator[SourceDocument]:
    """Yield the paragraphs that are given with a question."""
    data_set = "2wiki" if _TWO_WIKI_KEYS & question.keys() else "hotpotqa"
    data_set = "musique" if "paragraphs" in question else data_set
    for title, text in _paragraphs(question, where):
        if is_visible(text):  # published contexts have empty paragraphs
            _check(title, "title", where)
            _check(text, "text", where)
            key = f"{title} {text_hash(text)}"
            yield SourceDocument(title, text, data_set, key, whole=True)


def _record(value: Any, name: str, where: str, source: str, titles: Counter[str]) -> SourceDocument:
    title, text = value["title"], value[name]
    _check(title, "title", where)
    _check(text, name, where)
    # Titles are counted by a digest, so that a long file does not fill the memory.
    digest = text_hash(title)[:32]
    titles[digest] += 1
    # A passage with questions of its own (IIRC's form): the questions are no document.
    asked = value.get("questions")
    left_out = (f"{len(asked)} questions of {title!r}",) if isinstance(asked, list) else ()
    key = f"{title} #{titles[digest]}"
    return SourceDocument(title, text, source, key, whole=True, left_out=left_out)


def _paragraphs(question: dict[str, Any], where: str) -> list[tuple[str, str]]:
    """Return title and text of a question's paragraphs; HotpotQA's sentences have own spaces."""
    name = "paragraphs" if "paragraphs" in question else "context"
    value = question[name]
    try:
        if name == "paragraphs":
            paragraphs = msgspec.convert(value, list[_MusiqueParagraph])
            return [(each.title, each.paragraph_text) for each in paragraphs]
        if isinstance(value, dict):  # as in the Hugging Face copies
            sentences = value["sentences" if "sentences" in value else "content"]
            value = list(zip_longest(value["title"], sentences))
        context = msgspec.convert(value, list[tuple[str, list[str]]])
        return [(title, "".join(sentences)) for title, sentences in context]
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        what = f'the question\'s "{name}" is not as published ({error})'
        raise InputError(what, where=where) from error


def _check(value: Any, name: str, where: str) -> None:
    if not isinstance(value, str):
        raise InputError(f'"{name}" is not a text', where=where)
    if not is_storable(value):
        what = f'"{name}" holds half a surrogate pair'
        raise InputError(what, where=where, hint="Mend the escape.")
    if not is_visible(value):
        raise InputError(f'"{name}" is empty', where=where)


def _table(records: Sequence[dict[str, Any]], caption: str, where: str) -> SourceTable:
    """Return records as a table: one row each, one column for each name that any of them has.

    Raises InputError for too many names or cells, and for texts that are not Unicode.
    """
    rows = [{name: _text(each) for name, each in _members(record)} for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(names) > _WIDEST or len(names) * len(rows) > _MOST_CELLS:
        what = f"{len(rows):,} records with {len(names):,} names are too much for one table"
        raise InputError(what, where=where, hint="Split the file, or give the records like names.")
    filled = tuple(tuple(row.get(name, "") for name in names) for row in rows)
    if not all(is_storable(text) for row in (names, *filled) for text in row):
        raise InputError("a record holds half a surrogate pair", where=where, hint="Mend it.")
    return SourceTable((tuple(names), *filled), 1, caption, number(caption))


def texts_of_rows(document: SourceDocument) -> Iterator[SourceDocument]:
    """Yield a document and, where its one table's rows hold texts, a document of each row.

    The table stays, so that its rows can be counted; the texts are in the rows' passages alone.
    """
    table = document.tables[0] if len(document.tables) == 1 else None
    rows = table.rows[table.header_rows :] if table else ()
    names = column_names(table) if table else []
    columns = list(zip(*rows[:_SAMPLE], strict=True))
    told = [at for at, texts in enumerate(columns) if _are_texts(texts)]
    if table is None or not told or len(rows) < 2 or not all(names):
        yield document
        return
    short = f"{document.title or 'Table'}: {len(rows):,} records with {', '.join(names)}"
    beside = document.text[: table.start].strip()
    text = "\n\n".join(filter(None, (beside, short)))
    yield replace(document, text=text, tables=(replace(table, start=0, end=0),))
    titled = next((at for at in range(len(names)) if at not in told and _tells(columns[at])), None)
    for count, row in enumerate(rows, 1):
        lines = [f"{name}: {text}" for name, text in zip(names, row, strict=True) if text.strip()]
        title = " ".join(row[titled].split())[:200] if titled is not None else ""
        title = title or f"{document.title} {count}".strip()
        key = f"record {count}"
        if lines:
            yield SourceDocument(title, "\n".join(lines), document.source, key, whole=True)


def _are_texts(texts: Sequence[str]) -> bool:
    filled = [text for text in texts if text.strip()]
    is_long = sum(map(len, filled)) > _LONG * len(filled) > 0
    return is_long and 2 * sum(map(is_prose, filled)) > len(filled)


def _tells(texts: Sequence[str]) -> bool:
    """Return whether a column's texts may be titles: words that are different in each row."""
    worded = sum(any(map(str.isalpha, text)) for text in texts)
    return worded == len(texts) and len(set(texts)) > 0.9 * len(texts)


def _members(value: dict[str, Any], name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what an object holds, at any depth, with dotted names."""
    for key, member in value.items():
        path = f"{name}.{key}" if name else key
        if isinstance(member, dict):
            yield from _members(member, path)
        else:
            yield path, member


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_text(member)}" for name, member in _members(value))
    if isinstance(value, float) and _UNCLEAR.fullmatch(str(value)):
        return f"{value}0"
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- Separated values ---

#: The surest first: few texts have the same number of tabs or bars in each line.
_DELIMITERS = ("\t", "|", ";", ",")
_NONE = "\x1f"  # stands in no text
_FIRST = 1 << 16
_MOST_REPORTED = 10  # ragged lines that are reported one by one
_PREAMBLE = 10  # lines above the header that may be a title
_SEP = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)
_VALUE = re.compile(r'[^\s"|;,]')
_LONE = re.compile(r'\\(["\\])|\\')
#: Ends the text: it is read as a separate record unless a quote is open. No text has NUL.
_END = "\0"

_Line = tuple[int, list[str]]


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
    table, ragged = _values_table(records, separator)
    blocks = Blocks()
    blocks.add_table(table)
    return blocks.document(where, notes=ragged)


def _values_table(records: list[_Line], separator: str) -> tuple[SourceTable, tuple[str, ...]]:
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


def _records(text: str, separator: str, escaped: bool, where: str, line: int) -> Iterator[_Line]:
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
    sample = text if len(text) <= _FIRST else text[: text.rfind("\n", 0, _FIRST) + 1 or _FIRST]
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
