"""Turn JSON records into documents: {title, text}, and questions with their contexts.

The files of HotpotQA, 2WikiMultihopQA and MuSiQue have questions; the paragraphs given with them
become documents. The keys show which data set it is. A paragraph repeated with many questions is
one document, and two paragraphs with one title are two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.environment.files import Value, shown
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

__all__ = ["documents_of_records"]

#: Keys that only the questions of 2WikiMultihopQA have; HotpotQA's lack them.
_TWO_WIKI_KEYS = frozenset(("answer_id", "entity_ids", "evidences", "evidences_id"))
#: The keys that have a record's text; articles of MultiHop-RAG have a body.
_TEXTS = ("text", "body")
_EXPECTED = (
    'Expected are {"title", "text"} records, or the questions of HotpotQA, 2WikiMultihopQA '
    '("context") or MuSiQue ("paragraphs").'
)


def documents_of_records(
    path: Path, values: Iterable[Value]
) -> Iterator[SourceDocument | InputError]:
    """Yield the documents of a file's values, and an InputError for each that cannot be used.

    Records of the same title are numbered.
    """
    titles: Counter[str] = Counter()
    empty = True
    for value, where in values:
        empty = False
        if isinstance(value, InputError):
            yield value
            continue
        try:
            yield from _documents(value, where, path.as_posix(), titles)
        except InputError as error:
            yield error
    if empty:
        yield InputError("the file holds no record", where=shown(path), hint=_EXPECTED)


def _documents(
    value: Any, where: str, source: str, titles: Counter[str]
) -> Iterator[SourceDocument]:
    if not isinstance(value, dict):
        raise InputError("not a record", where=where, hint=_EXPECTED)
    if "title" in value and (text := next((k for k in _TEXTS if k in value), "")):
        yield _record(value, text, where, source, titles)
    elif "question" in value and "paragraphs" in value:
        yield from _paragraphs("musique", _of_musique(value["paragraphs"], where), where)
    elif "question" in value and "context" in value:
        data_set = "2wiki" if _TWO_WIKI_KEYS & value.keys() else "hotpotqa"
        yield from _paragraphs(data_set, _of_context(value["context"], where), where)
    else:
        missing = "title" if "text" in value else "text"
        raise InputError(f'the record has no "{missing}"', where=where, hint=_EXPECTED)


def _record(
    value: dict[str, Any], text_key: str, where: str, source: str, titles: Counter[str]
) -> SourceDocument:
    for name in ("title", text_key):
        if not _string(value[name], name, where).strip():
            raise InputError(f'the record\'s "{name}" is empty', where=where)
    title = value["title"]
    # Titles are counted by a digest, so that a long file does not fill the memory.
    digest = text_hash(title)[:32]
    titles[digest] += 1
    # A passage with questions of its own (IIRC's form): the questions are no document.
    asked = value.get("questions")
    left_out = (f"{len(asked)} questions of {title!r}",) if isinstance(asked, list) else ()
    key = f"{title} #{titles[digest]}"
    return SourceDocument(title, value[text_key], source, key, whole=True, left_out=left_out)


def _paragraphs(
    data_set: str, paragraphs: Iterable[tuple[str, str]], where: str
) -> Iterator[SourceDocument]:
    for title, text in paragraphs:
        # Published contexts have empty paragraphs; they are skipped.
        if text.strip():
            if not title.strip():
                raise InputError("a paragraph has no title", where=where)
            yield SourceDocument(title, text, data_set, f"{title} {text_hash(text)}", whole=True)


def _of_context(context: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield title and text of [[title, [sentence, ...]], ...], the form of both data sets.

    Sentences are joined as they are: those of HotpotQA have their own spaces. In the Hugging Face
    copies, titles and sentences are two lists.
    """
    if isinstance(context, dict):
        titles, texts = context.get("title"), context.get("sentences")
        if isinstance(titles, list) and isinstance(texts, list):
            context = list(zip_longest(titles, texts))
    if not isinstance(context, list):
        raise _unpublished("context", where)
    for paragraph in context:
        if not isinstance(paragraph, list | tuple) or len(paragraph) != 2:
            raise _unpublished("context", where)
        title, sentences = paragraph
        if not isinstance(sentences, list):
            raise _unpublished("context", where)
        text = "".join(_string(sentence, "context", where) for sentence in sentences)
        yield _string(title, "context", where), text


def _of_musique(paragraphs: Any, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(paragraphs, list) or not all(isinstance(p, dict) for p in paragraphs):
        raise _unpublished("paragraphs", where)
    for paragraph in paragraphs:
        title, text = (paragraph.get(key) for key in ("title", "paragraph_text"))
        yield _string(title, "title", where), _string(text, "paragraph_text", where)


def _unpublished(name: str, where: str) -> InputError:
    return InputError(f'the question\'s "{name}" is not as published', where=where)


def _string(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f'"{name}" is not a text', where=where)
    if not is_storable(value):
        raise InputError(
            f'"{name}" holds half a surrogate pair', where=where, hint="Mend the escape."
        )
    return value
