"""Turn JSON records into documents: {title, text}, and questions with their contexts.

The files of HotpotQA, 2WikiMultihopQA and MuSiQue have questions; the paragraphs given with them
become documents. The keys show which data set it is. A paragraph repeated with many questions is
one document, and two paragraphs with one title are two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.environment.files import Value, shown
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

__all__ = ["HOTPOTQA", "MUSIQUE", "TWO_WIKI", "RecordReader"]

HOTPOTQA, TWO_WIKI, MUSIQUE = "hotpotqa", "2wiki", "musique"

#: Keys that only the questions of 2WikiMultihopQA have; HotpotQA's lack them.
_TWO_WIKI_KEYS = frozenset(("answer_id", "entity_ids", "evidences", "evidences_id"))
#: The keys that have a record's text; articles of MultiHop-RAG have a body.
_TEXTS = ("text", "body")
_EXPECTED = (
    'Expected are {"title", "text"} records, or the questions of HotpotQA, 2WikiMultihopQA '
    '("context") or MuSiQue ("paragraphs").'
)


class RecordReader:
    """Read the values of one file; records of the same title are numbered."""

    def __init__(self, path: Path) -> None:
        self._source = path.as_posix()
        self._name = shown(path)
        self._titles: Counter[bytes] = Counter()

    def documents(self, values: Iterator[Value]) -> Iterator[SourceDocument | InputError]:
        """Yield each value's documents, and an InputError for each value that cannot be used."""
        empty = True
        for value, where in values:
            empty = False
            if isinstance(value, InputError):
                yield value
                continue
            try:
                yield from self._documents(value, where)
            except InputError as error:
                yield error
        if empty:
            yield InputError("the file holds no record", where=self._name, hint=_EXPECTED)

    def _documents(self, value: Any, where: str) -> Iterator[SourceDocument]:
        if not isinstance(value, dict):
            raise InputError("not a record", where=where, hint=_EXPECTED)
        if "title" in value and (text := next((k for k in _TEXTS if k in value), "")):
            yield self._record(value, text, where)
        elif "question" in value and "paragraphs" in value:
            yield from _paragraphs(MUSIQUE, _of_musique(value["paragraphs"], where), where)
        elif "question" in value and "context" in value:
            data_set = TWO_WIKI if _TWO_WIKI_KEYS & value.keys() else HOTPOTQA
            yield from _paragraphs(data_set, _of_context(value["context"], where), where)
        else:
            missing = next((k for k in ("text", "title") if k not in value), "text")
            what = f'the record has no "{missing}"'
            raise InputError(what, where=where, hint=_EXPECTED)

    def _record(self, value: dict[str, Any], text_key: str, where: str) -> SourceDocument:
        title = _string(value["title"], "title", where)
        text = _string(value[text_key], text_key, where)
        for name, given in (("title", title), (text_key, text)):
            if not given.strip():
                raise InputError(f'the record\'s "{name}" is empty', where=where)
        # Titles are counted by a digest, so that a long file does not fill the memory.
        digest = bytes.fromhex(text_hash(title)[:32])
        self._titles[digest] += 1
        key = f"{title} #{self._titles[digest]}"
        # A passage with questions of its own (IIRC's form): the questions are no document.
        asked = value.get("questions")
        left_out = (f"{len(asked)} questions of {title!r}",) if isinstance(asked, list) else ()
        return SourceDocument(title, text, self._source, key, whole=True, left_out=left_out)


def _paragraphs(
    data_set: str, found: Iterator[tuple[str, str]], where: str
) -> Iterator[SourceDocument]:
    for title, text in found:
        # Published contexts have empty paragraphs; they are skipped.
        if text.strip():
            if not title.strip():
                raise InputError("a paragraph has no title", where=where)
            yield SourceDocument(title, text, data_set, f"{title} {text_hash(text)}", whole=True)


def _of_context(context: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield title and text of [[title, [sentence, ...]], ...], the form of both data sets.

    Sentences are joined as they are: those of HotpotQA have their own spaces.
    """
    if isinstance(context, dict):  # the form of the Hugging Face copies
        titles, all_sentences = context.get("title"), context.get("sentences")
        if not isinstance(titles, list) or not isinstance(all_sentences, list):
            raise _bad("context", where)
        if len(titles) != len(all_sentences):
            raise _bad("context", where)
        context = [list(pair) for pair in zip(titles, all_sentences, strict=True)]
    if not isinstance(context, list):
        raise _bad("context", where)
    for paragraph in context:
        if not isinstance(paragraph, list) or len(paragraph) != 2:
            raise _bad("context", where)
        title, sentences = paragraph
        if not isinstance(sentences, list):
            raise _bad("context", where)
        text = "".join(_string(sentence, "context", where) for sentence in sentences)
        yield _string(title, "context", where), text


def _of_musique(paragraphs: Any, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(paragraphs, list):
        raise _bad("paragraphs", where)
    for paragraph in paragraphs:
        if not isinstance(paragraph, dict):
            raise _bad("paragraphs", where)
        yield (
            _string(paragraph.get("title"), "title", where),
            _string(paragraph.get("paragraph_text"), "paragraph_text", where),
        )


def _bad(name: str, where: str) -> InputError:
    return InputError(f'the question\'s "{name}" is not as published', where=where)


def _string(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f'"{name}" is not a text', where=where)
    if not is_storable(value):
        raise InputError(
            f'"{name}" holds half a surrogate pair', where=where, hint="Mend the escape."
        )
    return value
