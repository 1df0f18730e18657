"""Read an answer once more, marked in its passage, to say how likely it is right.

A second network judges what the reader has chosen (Hu et al., "Read + Verify", AAAI 2019): it sees
the question, the answer, the part of its passage around it, and the sentences that say most. It
also judges cells of tables, with their columns' names, where a row shares words with the question.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from tokenizers import Tokenizer

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.read.choosing import Choice
from kgp_neo4j.corpus.read.plain_rows import TableRow, rows_of
from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.reader.network import encoded
from kgp_neo4j.text.words import content_words, stem
from kgp_neo4j.types.corpus import Passage

#: Tokens at most: of question, answer, a title, the part around an answer, another sentence, a
#: cell, all of one input, and of one with a row.
_QUESTION, _ANSWER, _TITLE, _AROUND, _SENTENCE, _CELL = 64, 24, 20, 128, 72, 40
_LONGEST, _ROW = 320, 200
#: Characters on each side of an answer that are enough for its part, and sentences at most.
_NEAR, _SENTENCES = 1_500, 4
#: What marks the answer: tokens that the encoder's words leave free.
_OPEN, _CLOSE = "[unused1]", "[unused2]"
#: Rows whose cells are judged, and cells of each, at most.
_ROWS, _CELLS = 3, 8


class Layout:
    """Arrange chosen answers to one question as inputs of the network."""

    def __init__(self, tokenizer: Tokenizer, question: str, passages: Sequence[Passage]) -> None:
        self._tokenizer = tokenizer
        self._passages = {passage.id: passage for passage in passages}
        self._order = [passage.id for passage in passages]
        first, self._end = tokenizer.encode("").ids
        self._open, self._close = (token_id(tokenizer, mark) or 0 for mark in (_OPEN, _CLOSE))
        self._asked = [first, *self._ids(question, _QUESTION), self._end]

    def of(self, choice: Choice) -> tuple[list[int], list[int]]:
        """Return the tokens and types of an answer: question and answer, then what it stands in."""
        begin = [*self._asked, *self._ids(choice.text, _ANSWER), self._end]
        body = self._row(*choice.spans[0]) if choice.spans else []
        if not body:
            seen: dict[str, tuple[int, int]] = {}
            for id_, start, end in choice.spans[:2]:
                part, seen[id_] = self._around(id_, start, end)
                body += part
            body += self._others(choice, seen, _LONGEST - len(begin) - len(body))
        ids = [*begin, *body][:_LONGEST]
        return ids, [int(at >= len(begin)) for at in range(len(ids))]

    def _ids(self, text: str, most: int) -> list[int]:
        return list(encoded(self._tokenizer, [_with_ends(text)])[0].ids[:most])

    def _title(self, passage: Passage) -> list[int]:
        return self._ids(f"{passage.heading}:", _TITLE) if passage.heading else []

    def _around(self, id_: str, start: int, end: int) -> tuple[list[int], tuple[int, int]]:
        """Return the marked answer with the text around it, and that text's place."""
        passage = self._passages[id_]
        off = max(0, start - _NEAR)
        (near,) = encoded(self._tokenizer, [_with_ends(passage.text[off : end + _NEAR])])
        ids, places = near.ids, [(a + off, b + off) for a, b in near.offsets]
        first = next((at for at, (_, b) in enumerate(places) if b > start), len(ids))
        last = max((at for at, (a, _) in enumerate(places) if a < end), default=first)
        low = max(0, first - (_AROUND - (last - first + 1)) // 2)
        high = min(len(ids), low + _AROUND)
        low = max(0, high - _AROUND)
        marked = [self._open, *ids[first : last + 1], self._close]
        part = [*ids[low:first], *marked, *ids[last + 1 : high]]
        place = (places[low][0], places[high - 1][1]) if high > low else (0, 0)
        return [*self._title(passage), *part, self._end], place

    def _others(self, choice: Choice, seen: dict[str, tuple[int, int]], room: int) -> Iterator[int]:
        """Yield the tokens of the sentences that say most, but for those shown already."""
        count = 0
        for _, at, start, end in choice.sentences:
            passage = self._passages[self._order[at]]
            low, high = seen.get(passage.id, (0, 0))
            if count == _SENTENCES or room <= _TITLE or (start < high and end > low):
                continue
            ids = [*self._title(passage), *self._ids(passage.text[start:end], _SENTENCE)]
            ids = [*ids[: room - 1], self._end]
            room -= len(ids)
            count += 1
            yield from ids

    def _row(self, id_: str, start: int, end: int) -> list[int]:
        """Return the row of a table that an answer stands in, its cell marked; none in prose."""
        passage = self._passages[id_]
        if not passage.text.startswith("|", passage.text.rfind("\n", 0, start) + 1):
            return []
        held = (
            (row, at)
            for row in rows_of(passage.text, passage.columns)
            for at, (a, b) in enumerate(row.cells)
            if a <= start and end <= b
        )
        row, own = next(held, (None, 0))
        if row is None:
            return []
        before = [*self._title(passage), *self._ids(f"{row.section};" if row.section else "", 20)]
        stop = self._ids(";", 1)
        parts: dict[int, list[int]] = {}
        for at, (start, end) in enumerate(row.cells):
            name = row.names[at] if at < len(row.names) else ""
            cell = self._ids(passage.text[start:end], _CELL)
            if at == own:
                cell = [self._open, *cell, self._close]
            if cell:
                parts[at] = [*self._ids(f"{name}:" if name else "", 12), *cell, *stop]
        room = _ROW - len(before) - len(parts[own])
        for at in sorted(parts.keys() - {own}):
            room -= len(parts[at])
            if room < 0:
                room += len(parts.pop(at))
        return [*before, *chain.from_iterable(parts.values()), self._end]


def _with_ends(text: str) -> str:
    """Return a text of the same length in which a line of a form ends like a sentence."""
    if "\n" not in text:
        return text
    begins = {start for start, _ in sentences(text)}
    return re.sub(r"(?<=\w)\n", lambda end: "." if end.end() in begins else "\n", text)


def cells_of(question: str, passages: Sequence[Passage]) -> list[Choice]:
    """Return the cells that may answer, of the rows that share the rarest words with a question."""
    asked = set(map(stem, content_words(question)))
    rows: list[tuple[Passage, TableRow, set[str]]] = []
    for passage, row in ((p, row) for p in passages for row in rows_of(p.text, p.columns)):
        text = " ".join(passage.text[a:b] for a, b in row.cells)
        named = set(map(stem, content_words(f"{row.section} {' '.join(row.names)}")))
        own = asked.intersection(map(stem, content_words(text)))
        # The names of columns tell tables apart, not rows.
        rows.append((passage, row, own | (named & asked) if own else set()))
    frequency = Counter(word for _, _, shared in rows for word in shared)

    def rarity(row: tuple[Passage, TableRow, set[str]]) -> float:
        return sum(math.log(1 + len(rows) / frequency[word]) for word in row[2])

    found = []
    for passage, row, shared in sorted(rows, key=rarity, reverse=True)[:_ROWS]:
        for start, end in row.cells[:_CELLS] if shared else ():
            text = passage.text[start:end]
            words = set(map(stem, content_words(text)))
            if text and not (words and words <= asked):
                found.append(Choice("span", text, ((passage.id, start, end),)))
    return found
