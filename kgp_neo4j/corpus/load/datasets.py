"""Turn JSON records into documents: {title, text}, questions with their contexts, and tables.

The files of HotpotQA, 2WikiMultihopQA and MuSiQue have questions; the paragraphs given with them
become documents. The keys show which data set it is. A paragraph repeated with many questions is
one document, and two paragraphs with one title are two. Other records are the rows of a table.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.corpus.load.records import (
    MOST_CELLS,
    document_of_tables,
    record_lists,
    table_of_records,
    texts_of_rows,
    values_beside,
)
from kgp_neo4j.environment.files import Value, shown, stem
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.text.visible import is_visible
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

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
    where, cells, is_told = "", 0, False
    for value, where in values:
        try:
            if isinstance(value, InputError):
                raise value
            if isinstance(value, dict) and not (is_told or _is_document(value)):
                records.append((value, where))
                cells += len(value)
                if cells > MOST_CELLS:
                    what = f"the records have more than {MOST_CELLS:,} values"
                    raise InputError(what, where=shown(path), hint="Split the file.")
                continue
            for document in _documents(value, where, path.as_posix(), titles):
                is_told = True
                yield document
        except InputError as error:
            yield error
            if cells > MOST_CELLS:
                return
    if not where:
        yield InputError("the file holds no record", where=shown(path), hint=_EXPECTED)
    first = records[0][0] if len(records) == 1 else {}
    lists = [*record_lists(first)]
    is_untold = all(value.keys() <= {"title", *_TEXTS} for value, _ in records)
    if is_told or is_untold or (len(records) == 1 and not lists):
        for value, where in records:
            missing = "title" if "text" in value else "text"
            yield InputError(f'the record has no "{missing}"', where=where, hint=_EXPECTED)
    elif records:
        lists = lists or [("", [value for value, _ in records])]
        tables = [table_of_records(rows, name, shown(path)) for name, rows in lists]
        document = document_of_tables(tables, values_beside(first), path.as_posix())
        yield from texts_of_rows(replace(document, title=stem(path)))


def _is_document(value: dict[str, Any]) -> bool:
    is_text = "title" in value and any(name in value for name in _TEXTS)
    return is_text or ("question" in value and ("paragraphs" in value or "context" in value))


def _documents(value: Any, where: str, source: str, titles: Counter[str]) -> Iterator[Reading]:
    if not isinstance(value, dict):
        raise InputError("not a record", where=where, hint=_EXPECTED)
    if "title" in value and (key := next((k for k in _TEXTS if k in value), "")):
        yield _record(value, key, where, source, titles)
    elif "question" in value and ("paragraphs" in value or "context" in value):
        data_set = "2wiki" if _TWO_WIKI_KEYS & value.keys() else "hotpotqa"
        data_set = "musique" if "paragraphs" in value else data_set
        for title, text in _paragraphs(value, where):
            # Published contexts have empty paragraphs; they are skipped.
            if is_visible(text):
                _check(title, "title", where)
                _check(text, "text", where)
                key = f"{title} {text_hash(text)}"
                yield SourceDocument(title, text, data_set, key, whole=True)
    else:
        missing = "title" if "text" in value else "text"
        raise InputError(f'the record has no "{missing}"', where=where, hint=_EXPECTED)


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
