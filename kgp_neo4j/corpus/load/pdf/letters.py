"""Words and lines from the letters of a page: ligatures resolved, turned text in its direction."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mode
from typing import NamedTuple, TypeAlias

from kgp_neo4j.text.safe import JOINERS, LEFTWARD, in_reading_order, plain_letters, word_way


class Box(NamedTuple):
    """A rectangle of a page in points, counted from the top left corner."""

    x0: float
    top: float
    x1: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    def holds(self, other: Placed) -> bool:
        """Return whether the middle of `other` is inside."""
        y = (other.top + other.bottom) / 2
        return self.x0 <= center(other) <= self.x1 and self.top <= y <= self.bottom

    @staticmethod
    def around(parts: Iterable[Placed]) -> Box:
        """Return the smallest box around some words, lines or boxes."""
        x0s, tops, x1s, bottoms = zip(*((p.x0, p.top, p.x1, p.bottom) for p in parts), strict=True)
        return Box(min(x0s), min(tops), max(x1s), max(bottoms))

    def turned(self, turn: int) -> Box:
        """Return the box as it lies once text turned by 90, 180 or 270 degrees is upright."""
        if turn == 90:
            return Box(-self.bottom, self.x0, -self.top, self.x1)
        if turn == 270:
            return Box(self.top, -self.x1, self.bottom, -self.x0)
        return Box(-self.x1, -self.bottom, -self.x0, -self.top) if turn == 180 else self


#: Anything with a place on a page.
Placed: TypeAlias = "Box | Word | Line"


def center(part: Placed) -> float:
    """Return the place half way between left and right."""
    return (part.x0 + part.x1) / 2


@dataclass(slots=True, eq=False)
class Word:
    """A word or a letter with its place; `turn` is 90 for text read upwards, 270 downwards."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool = False
    mono: bool = False
    turn: int = 0
    #: A space follows in the file, so nothing is joined to the word.
    spaced: bool = False
    #: It is read from right to left; its text is as it stands, from left to right.
    is_leftward: bool = False
    #: A picture of the page need not show it: its font is not in the file, or it is in a field.
    unjudged: bool = False
    #: It is drawn without ink, as the text of a scan is.
    inkless: bool = False

    def move(self, turn: int) -> None:
        """Move it to where it lies once the page is turned."""
        place = Box(self.x0, self.top, self.x1, self.bottom).turned(turn)
        self.x0, self.top, self.x1, self.bottom = place


#: A gap of this share of the letters' size separates two words; TeX's tightest space is 0.22.
_GAP = 0.18
#: Letters set apart: the widest gap between them as a share of their size, and how much it varies.
_APART, _EVEN = 0.65, 0.08
#: A word of so many times the usual size, a first letter, a brace, a figure, is tall: it is in the
#: first of the lines beside it, and does not count in the line's height.
_TALL = 1.5
#: A letter without a known meaning, and the turn of a stamp across the page.
UNKNOWN, SLANTED = "\ufffd", 45
#: Characters that only look like a hyphen.
_LETTERS = dict.fromkeys("\xad\u2010\u2011", "-")


class Line:
    """Words side by side, from left to right."""

    __slots__ = ("bottom", "size", "top", "words", "x0", "x1")

    def __init__(self, words: list[Word]) -> None:
        self.words = words = sorted(words, key=lambda word: (word.x0, word.x1))
        self.size = mode(s for word in words for s in [round(word.size, 1)] * len(word.text))
        most = max(_TALL * self.size, 1.0)
        usual = [word for word in words if word.size <= most]
        self.x0, self.top, self.x1, self.bottom = Box.around(words)
        if len(usual) < len(words):
            _, self.top, _, self.bottom = Box.around(usual)

    @property
    def text(self) -> str:
        """Return its text in the order in which it is read."""
        text = " ".join(word.text for word in self.words)
        is_mixed = any(word.is_leftward for word in self.words)
        return unicodedata.normalize("NFC", in_reading_order(text)) if is_mixed else text

    @property
    def bold(self) -> bool:
        """Return whether all of it is bold."""
        return all(word.bold for word in self.words)

    @property
    def mono(self) -> bool:
        """Return whether most of it is in letters of one width, as code is."""
        return sum(len(w.text) for w in self.words if w.mono) > 0.6 * len(self)

    @property
    def middle(self) -> float:
        """Return the height half way between top and bottom."""
        return (self.top + self.bottom) / 2

    def __len__(self) -> int:
        return sum(len(word.text) for word in self.words)

    def segments(self, gap: float = 0.6) -> list[Box]:
        """Return its pieces between wide gaps; `gap` is in sizes of its letters."""
        pieces: list[Box] = []
        for word in self.words:
            if pieces and word.x0 - pieces[-1].x1 < gap * max(self.size, 4):
                pieces[-1] = Box.around([pieces[-1], word])
            else:
                pieces.append(Box(word.x0, word.top, word.x1, word.bottom))
        return pieces


def words_of(letters: Sequence[Word]) -> list[Word]:
    """Return the words that a page's letters become, upright ones first.

    Letters printed twice in one place count once. A word's text may hold `UNKNOWN`.
    """
    by_turn: dict[int, list[Word]] = defaultdict(list)
    seen, before = (set[tuple[str, int, int]]() for _ in range(2))
    last: Word | None = None
    for letter in letters:
        letter.move(letter.turn)
    _close_up(letters)
    for letter in letters:
        text = letter.text = _clean(letter.text)
        if text == " ":
            if last is not None and letter.x1 > last.x1:  # else it is on the left
                last.spaced = True
            last = None
            continue
        keys = {(text, round(letter.x0 + shift), round(letter.top)) for shift in (-0.3, 0.3)}
        # In small print letters side by side, as in "all", are as near as those printed twice.
        is_next = last and keys & seen <= before and letter.x0 + letter.x1 > 2 * last.x1
        if text and keys & seen and not is_next:
            continue
        seen |= keys
        before = keys
        is_beside = (
            last is not None
            and last.turn == letter.turn
            and abs(letter.bottom - last.bottom) < 0.25 * letter.size
            and -0.5 * letter.size < letter.x0 - last.x1 < _GAP * letter.size
        )
        if LEFTWARD.search(text):
            # In reading order or as it stands: its place decides, when its line is whole.
            letter.text, letter.is_leftward, last = text[::-1], True, letter
            by_turn[letter.turn].append(letter)
        elif last is not None and is_beside and not last.is_leftward and letter.x1 > last.x0:
            last.text += text
            last.x1 = max(last.x1, letter.x1)
            last.top, last.bottom = min(last.top, letter.top), max(last.bottom, letter.bottom)
            last.bold, last.mono = last.bold and letter.bold, last.mono and letter.mono
        elif text:
            last = letter
            by_turn[letter.turn].append(letter)
    words = [word for _, parts in sorted(by_turn.items()) for word in _joined(parts)]
    leftward = [word for word in words if word.is_leftward]
    is_reversed = sum(word_way(word.text) for word in leftward) >= 0
    for word in words:
        word.move(-word.turn % 360)
        # A lone letter without a known meaning is a bullet.
        text = "•" if word.text == UNKNOWN else word.text
        if word.is_leftward:
            shapes = (plain_letters(c) for c in text)
            text = "".join(shape[::-1] if is_reversed else shape for shape in shapes)
            word.is_leftward = is_reversed
        word.text = text if word.is_leftward else unicodedata.normalize("NFC", plain_letters(text))
    return words


def _close_up(letters: Sequence[Word]) -> None:
    """Widen letters set apart by like gaps, so that those of a word touch."""
    line = 0
    for at, (one, two) in enumerate(zip(letters, [*letters[1:], None], strict=False), 1):
        is_on = two is not None and one.turn == two.turn and two.x0 >= one.x0
        if is_on and two is not None and abs(one.bottom - two.bottom) < 0.1 * one.size:
            continue
        beside = ((a, b) for a, b in pairwise(letters[line:at]) if " " not in (a.text, b.text))
        gaps = sorted((b.x0 - a.x1) / a.size for a, b in beside)
        usual = gaps[len(gaps) // 2] if len(gaps) > 2 else 0.0
        alike = sum(abs(gap - usual) < _EVEN for gap in gaps)
        if 0.5 * _GAP < usual < _APART and alike >= 0.6 * len(gaps):
            for letter in letters[line:at]:
                letter.x1 += usual * letter.size
        line = at


def _clean(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text
    if text.isspace():
        return " "
    return "".join(c for c in _LETTERS.get(text, text) if c.isprintable() or c in JOINERS)


def _joined(words: list[Word]) -> list[Word]:
    """Return words with those joined that touch on the page but are apart in the file."""
    joined: list[Word] = []
    for line in lines_of(words):
        last: Word | None = None
        for word in line.words:
            is_mark = word.is_leftward and bool(unicodedata.combining(word.text[0]))
            # In Hebrew or Arabic in reading order the space is on the other side.
            if (
                last is not None
                and (not last.spaced or last.is_leftward)
                and abs(word.size - last.size) < 0.1
                and abs(word.bottom - last.bottom) < 0.15 * word.size
                and (-0.2 * word.size < word.x0 - last.x1 or is_mark)
                and word.x0 - last.x1 < 0.1 * word.size
            ):
                # A mark over a letter stands before it, as it comes after it when read.
                at = len(last.text) - is_mark
                last.text = last.text[:at] + word.text + last.text[at:]
                last.x1, last.spaced = max(last.x1, word.x1), word.spaced
                last.is_leftward = last.is_leftward or word.is_leftward
            else:
                joined.append(word)
                last = word
    return joined


def lines_of(words: Iterable[Word]) -> list[Line]:
    """Return words gathered into lines from top to bottom: those that overlap by half in height."""
    words = list(words)
    most = _TALL * sorted(word.size for word in words)[len(words) // 2] if words else 0.0
    rows: list[tuple[float, float, list[Word]]] = []
    for word in sorted(words, key=lambda w: (2 * w.top + min(w.bottom - w.top, most), w.x0)):
        for at in range(len(rows) - 1, max(-1, len(rows) - 4), -1):
            top, bottom, members = rows[at]
            least = max(min(bottom - top, word.bottom - word.top), 0.1)
            if min(bottom, word.bottom) - max(top, word.top) >= 0.5 * least:
                members.append(word)
                if bottom - top > most or bottom - top < word.bottom - word.top <= most:
                    rows[at] = (word.top, word.bottom, members)
                break
        else:
            rows.append((word.top, word.bottom, [word]))
    return sorted((Line(members) for _, _, members in rows), key=lambda line: line.middle)


def is_leftward(words: Iterable[Word]) -> bool:
    """Return whether most of some words, numbers aside, are read from right to left."""
    ways = [word.is_leftward for word in words if any(map(str.isalpha, word.text))]
    return 2 * sum(ways) > len(ways)
