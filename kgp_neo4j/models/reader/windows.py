"""Lays a question and passages out in windows of word pieces for the offline reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Piece", "Window", "Windows", "pieces_of"]

#: A question keeps so many word pieces of its own; the passages have the rest of the window.
QUESTION = 64
#: So much of a longer passage is read at once; the next part begins `_OVERLAP` before its end.
_PART = 256
_OVERLAP = 48
#: Characters of a passage that are read at all (about 60 parts).
_LONGEST = 60_000
#: No tokenizer takes half a surrogate pair; another character in its place keeps the offsets.
_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a passage as word pieces: its title, then its text.

    `offsets` are the characters of each piece: in the title for the first `title` ones, in the text
    for the others; `joined` says of each whether it goes on with the word before. `passage` is the
    passage's place in the list.
    """

    passage: int
    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    joined: tuple[bool, ...]
    title: int


@dataclass(slots=True)
class Window:
    """What goes through the network at once, and where each of its word pieces comes from.

    `places[i]` is (passage, in the title, start, end) of the i-th word piece, None for the
    question and the marks between; `joined[i]` whether it goes on with the word before.
    """

    ids: list[int]
    types: list[int]
    places: list[tuple[int, bool, int, int] | None]
    joined: list[bool]
    passages: list[int] = field(default_factory=list)


def pieces_of(tokenizer: Any, texts: Sequence[tuple[str, str]]) -> list[list[Piece]]:
    """Return the pieces of passages, given as title and text: mostly one each."""
    if not texts:
        return []
    titles = tokenizer(
        [_HALVES.sub("\ufffd", title) for title, _ in texts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        truncation=True,
        max_length=_OVERLAP,
        verbose=False,
    )
    bodies = tokenizer(
        [_HALVES.sub("\ufffd", text[:_LONGEST]) for _, text in texts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        truncation=False,
        verbose=False,
    )
    made = []
    for at in range(len(texts)):
        head, ids = titles["input_ids"][at], bodies["input_ids"][at]
        places, spans = titles["offset_mapping"][at], bodies["offset_mapping"][at]
        joined = [*_joined(titles.word_ids(at)), *_joined(bodies.word_ids(at))]
        parts = []
        for start in range(0, max(len(ids) - _OVERLAP, 1), _PART - _OVERLAP):
            end = start + _PART
            parts.append(
                Piece(
                    at,
                    (*head, *ids[start:end]),
                    (*map(tuple, places), *map(tuple, spans[start:end])),
                    (*joined[: len(head)], *joined[len(head) + start : len(head) + end]),
                    len(head),
                )
            )
        made.append(parts)
    return made


class Windows:
    """Builds windows of at most `longest` word pieces for one question."""

    def __init__(self, tokenizer: Any, question: str, longest: int) -> None:
        self._separator = tokenizer.sep_token_id
        asked = tokenizer(
            _HALVES.sub("\ufffd", question),
            add_special_tokens=False,
            truncation=True,
            max_length=QUESTION,
            verbose=False,
        )["input_ids"]
        self._begin = [tokenizer.cls_token_id, *asked, self._separator]
        self._longest = longest

    def build(self, pieces: Sequence[Piece]) -> list[Window]:
        """Return windows that hold the pieces in their order, each as full as it can be."""
        made: list[Window] = []
        now: Window | None = None
        for piece in pieces:
            if now is not None and len(now.ids) + len(piece.ids) + 1 > self._longest:
                now = None
            if now is None:
                now = Window(
                    list(self._begin),
                    [0] * len(self._begin),
                    [None] * len(self._begin),
                    [False] * len(self._begin),
                )
                made.append(now)
            room = self._longest - len(now.ids) - 1
            ids = piece.ids[: max(room, 0)]
            now.ids += [*ids, self._separator]
            now.types += [1] * (len(ids) + 1)
            now.places += [
                (piece.passage, at < piece.title, start, end)
                for at, (start, end) in enumerate(piece.offsets[: len(ids)])
            ]
            now.places.append(None)
            now.joined += [*piece.joined[: len(ids)], False]
            now.passages.append(piece.passage)
        return made


def _joined(words: Sequence[int | None]) -> list[bool]:
    return [at > 0 and words[at - 1] == word for at, word in enumerate(words)]
