"""Arrange a question and passages in windows of tokens for the offline reader."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tokenizers import Tokenizer

#: Tokens of a question that are kept; the passages have the rest of the window.
QUESTION = 64
#: Tokens of a title that are kept.
_TITLE = 32
#: Tokens of one part of a longer passage with its title; the next begins `_OVERLAP` before its end.
_PART = 256
_OVERLAP = 48
#: Characters of a passage that are read at most (about 60 parts).
_LONGEST = 60_000
#: No tokenizer accepts an unpaired surrogate; replacing it by one character keeps the offsets.
_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a passage as tokens: its title, then its text.

    `offsets` are the characters of each token: in the title for the first `title` ones, in the text
    for the others, None where a passage does not have the token; `joined` is true for a token that
    continues a word. `passage` is the passage's index in the list.
    """

    passage: int
    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int] | None, ...]
    joined: tuple[bool, ...]
    title: int


@dataclass(slots=True)
class Window:
    """One input of the network, with the origin of each token.

    `places[i]` is (passage, in the title, start, end) of the i-th token, None for the question, the
    special tokens and those that a passage does not have; `joined[i]` is true where it continues a
    word. `asked` are the characters of the question's tokens, which begin after one special token.
    """

    ids: list[int]
    types: list[int]
    places: list[tuple[int, bool, int, int] | None]
    joined: list[bool]
    asked: Sequence[tuple[int, int]]
    passages: list[int] = field(default_factory=list)


def pieces_of(
    tokenizer: Tokenizer,
    texts: Sequence[tuple[str, str]],
    places: Sequence[Sequence[int] | None] = (),
) -> list[list[Piece]]:
    """Return the pieces of passages, given as title and text: mostly one each.

    `places` has for a text the place of each of its characters in the passage, -1 for those that
    were put in; None or nothing where text and passage are the same.
    """
    titles = encoded(tokenizer, [title for title, _ in texts])
    bodies = encoded(tokenizer, [text[:_LONGEST] for _, text in texts])
    pieces = []
    for at, (title, body) in enumerate(zip(titles, bodies, strict=True)):
        head, ids = title.ids[:_TITLE], body.ids
        heads, spans = title.offsets[:_TITLE], body.offsets
        if at < len(places) and (origin := places[at]) is not None:
            spans = [_origin(origin, start, end) for start, end in spans]
        head_joined, joined = _joined(title.word_ids[:_TITLE]), _joined(body.word_ids)
        parts = []
        room = _PART - len(head)
        for start in range(0, max(len(ids) - _OVERLAP, 1), room - _OVERLAP):
            end = start + room
            tokens, offsets = (*head, *ids[start:end]), (*heads, *spans[start:end])
            continues = (*head_joined, *joined[start:end])
            parts.append(Piece(at, tokens, offsets, continues, len(head)))
        pieces.append(parts)
    return pieces


def _origin(places: Sequence[int], start: int, end: int) -> tuple[int, int] | None:
    """Return the place in the passage of a token's characters; None where it has not got them."""
    within = places[start:end]
    return (within[0], within[-1] + 1) if within and min(within) >= 0 else None


def encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Any]:
    """Return the tokens of texts, without special ones."""
    whole = [_HALVES.sub("\ufffd", text) for text in texts]
    return list(tokenizer.encode_batch(whole, add_special_tokens=False))


def windows_of(
    tokenizer: Tokenizer, question: str, longest: int, pieces: Sequence[Piece]
) -> list[Window]:
    """Return windows of at most `longest` tokens with the question, and the pieces in order."""
    first, separator = tokenizer.encode("").ids
    (asked,) = encoded(tokenizer, [question])
    begin, spans = [first, *asked.ids[:QUESTION], separator], asked.offsets[:QUESTION]
    size = len(begin)
    windows: list[Window] = []
    for piece in pieces:
        if not windows or len(windows[-1].ids) + len(piece.ids) + 1 > longest:
            places: list[Any] = [None] * size
            windows.append(Window([*begin], [0] * size, places, [False] * size, spans))
        window = windows[-1]
        ids = piece.ids[: max(longest - len(window.ids) - 1, 0)]
        window.ids += [*ids, separator]
        window.types += [1] * (len(ids) + 1)
        window.places += [
            None if span is None else (piece.passage, at < piece.title, *span)
            for at, span in enumerate(piece.offsets[: len(ids)])
        ]
        window.places.append(None)
        window.joined += [*piece.joined[: len(ids)], False]
        window.passages.append(piece.passage)
    return windows


def _joined(words: Sequence[int | None]) -> list[bool]:
    return [at > 0 and words[at - 1] == word for at, word in enumerate(words)]
