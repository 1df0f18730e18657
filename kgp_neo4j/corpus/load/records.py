"""Make tables of records: JSON objects that are no documents, and rows that hold texts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kgp_neo4j.corpus.load.contents import Blocks
from kgp_neo4j.corpus.load.grid import column_names, number
from kgp_neo4j.text.prose import is_prose
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceTable

#: Names of values in one table, and cells of a file, at most.
_WIDEST, MOST_CELLS = 1_000, 3_000_000
#: Characters that a column's texts have in the mean where each row is a text of its own.
_LONG = 120
_SAMPLE = 200
#: A number whose point could part thousands, if it were not JSON's.
_UNCLEAR = re.compile(r"-?\d{1,3}\.\d{3}")


def record_lists(value: dict[str, Any], name: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of objects in an object, at any depth, with their dotted names."""
    for key, member in value.items():
        path = f"{name}.{key}" if name else key
        if isinstance(member, dict):
            yield from record_lists(member, path)
        elif isinstance(member, list) and any(isinstance(each, dict) for each in member):
            yield path, [each for each in member if isinstance(each, dict)]


def table_of_records(records: Sequence[dict[str, Any]], caption: str, where: str) -> SourceTable:
    """Return records as a table: one row each, one column for each name that any of them has.

    What an object in a record holds is named with a dot ("driver.name"); a list is joined. Raises
    InputError for more names or cells than a table may have, and for texts that are not Unicode.
    """
    rows = [dict(_flat(record)) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(names) > _WIDEST or len(names) * len(rows) > MOST_CELLS:
        what = f"{len(rows):,} records with {len(names):,} names are too much for one table"
        raise InputError(what, where=where, hint="Split the file, or give the records like names.")
    filled = tuple(tuple(row.get(name, "") for name in names) for row in rows)
    if not all(is_storable(text) for row in (names, *filled) for text in row):
        raise InputError("a record holds half a surrogate pair", where=where, hint="Mend it.")
    return SourceTable((tuple(names), *filled), 1, caption, number(caption))


def document_of_tables(
    tables: Iterable[SourceTable], values: Iterable[tuple[str, str]], where: str
) -> SourceDocument:
    """Return a document of tables, with the values that stand beside them, a line each."""
    blocks = Blocks()
    blocks.add("\n".join(f"{name}: {text}" for name, text in values))
    for table in tables:
        blocks.add_table(table)
    return blocks.document(where)


def values_beside(value: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the single values of an object by their dotted names, without its lists of objects."""
    lists = {name for name, _ in record_lists(value)}
    return [(name, text) for name, text in _flat(value) if name not in lists and text]


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


def _flat(value: dict[str, Any], name: str = "") -> Iterator[tuple[str, str]]:
    for key, member in value.items():
        path = f"{name}.{key}" if name else str(key)
        if isinstance(member, dict):
            yield from _flat(member, path)
        else:
            yield path, _text(member)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, dict):
        return "; ".join(f"{name}: {text}" for name, text in _flat(value))
    if isinstance(value, float) and _UNCLEAR.fullmatch(str(value)):
        return f"{value}0"
    return str(value).lower() if isinstance(value, bool) else str(value)
