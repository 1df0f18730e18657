"""Words and shapes from what a page draws: ligatures resolved, turned text in its own direction."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from pdfminer.layout import LTChar, LTContainer, LTCurve, LTImage, LTRect
from pdfminer.pdfinterp import PDFPageInterpreter

from kgp_neo4j.corpus.load.pdf.bounds import BoundedDevice


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

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    def holds(self, other: Placed) -> bool:
        """Return whether the middle of `other` is inside."""
        x, y = (other.x0 + other.x1) / 2, (other.top + other.bottom) / 2
        return self.x0 <= x <= self.x1 and self.top <= y <= self.bottom

    @staticmethod
    def around(parts: Iterable[Placed]) -> Box:
        """Return the smallest box around some words, lines or boxes."""
        x0s, tops, x1s, bottoms = zip(*((p.x0, p.top, p.x1, p.bottom) for p in parts), strict=True)
        return Box(min(x0s), min(tops), max(x1s), max(bottoms))

    def turned(self, turn: int) -> Box:
        """Return the box as it lies once text turned by 90 or 270 degrees is upright."""
        if turn == 90:
            return Box(-self.bottom, self.x0, -self.top, self.x1)
        if turn == 270:
            return Box(self.top, -self.x1, self.bottom, -self.x0)
        return self


#: Anything with a place on a page.
Placed: TypeAlias = "Box | Word | Line"


# --- Objects ---

_BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|bx\d|[-,]bd\b", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|cmtt", re.IGNORECASE)


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


@dataclass(slots=True)
class PageObjects:
    """The objects on a page, in points from its top left corner; `slanted` are curves and lines
    that are neither level nor upright, `shapes` all other lines and rectangles.
    """

    width: float
    height: float
    letters: list[Word] = field(default_factory=list)
    shapes: list[Box] = field(default_factory=list)
    slanted: list[Box] = field(default_factory=list)
    pictures: int = 0


def objects_of(page: Any) -> PageObjects:
    """Return the objects on a page of pdfplumber's, without letters and shapes outside it."""
    objects = PageObjects(float(page.width), float(page.height))
    # pdfplumber's own lists copy some forty attributes of each letter, which takes as long as
    # everything else together.
    device = BoundedDevice(page.pdf.rsrcmgr, pageno=page.page_number)
    PDFPageInterpreter(page.pdf.rsrcmgr, device).process_page(page.page_obj)
    styles = {name: _style(str(name), font) for name, font in device.fonts.items()}
    shown = Box(-2, -2, objects.width + 2, objects.height + 2)
    waiting: list[Any] = [device.get_result()]
    while waiting:
        part = waiting.pop()
        if isinstance(part, LTContainer) and not isinstance(part, LTChar):
            waiting += reversed(list(part))
            continue
        box = Box(part.x0, objects.height - part.y1, part.x1, objects.height - part.y0)
        if isinstance(part, LTImage):
            objects.pictures += 1
        elif not shown.holds(box):  # nor is what has no numbers as its place
            continue
        elif isinstance(part, LTChar):
            bold, mono = styles[part.fontname]
            a, b = part.matrix[:2]
            turn = 0 if abs(b) <= abs(a) else 90 if b > 0 else 270
            objects.letters.append(Word(part.get_text(), *box, part.size, bold, mono, turn))
        elif isinstance(part, LTCurve):
            is_level = isinstance(part, LTRect) or all(
                abs(a[0] - b[0]) < 1 or abs(a[1] - b[1]) < 1 for a, b in pairwise(part.pts)
            )
            (objects.shapes if is_level else objects.slanted).append(box)
    return objects


def _style(name: str, font: Any) -> tuple[bool, bool]:
    """Return whether a font is bold, and whether its letters are all of one width."""
    widths = {width for width in font.widths.values() if width}
    is_even = len(widths) == 1 if len(font.widths) >= 8 else bool(_MONO.search(name))
    return bool(_BOLD.search(name)), is_even


# --- Words ---

#: A gap of this share of the letters' size separates two words; TeX's tightest space is 0.22.
_GAP = 0.18
#: Replaces a letter without a known meaning until its word is complete.
_SIGN = "\ue000"
_UNKNOWN = re.compile(r"\(cid:\d+\)")
#: Replacements of letters: ligatures, and characters that only look like a hyphen or a bullet.
_LETTERS = {
    **{chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},
    "\xad": "-", "\u2010": "-", "\u2011": "-", "\ufffd": "",
    "\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "►", "\uf0fc": "✓",
}  # fmt: skip
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]")


@dataclass(slots=True, eq=False)
class Line:
    """Words side by side, from left to right."""

    words: list[Word]
    x0: float = field(init=False)
    top: float = field(init=False)
    x1: float = field(init=False)
    bottom: float = field(init=False)
    size: float = field(init=False)

    def __post_init__(self) -> None:
        self.words.sort(key=lambda word: word.x0)
        self.x0, self.top, self.x1, self.bottom = Box.around(self.words)
        sizes: Counter[float] = Counter()
        for word in self.words:
            sizes[round(word.size, 1)] += len(word.text)
        self.size = sizes.most_common(1)[0][0]

    @property
    def text(self) -> str:
        """Return its text, from right to left where most words are such."""
        texts = [word.text for word in self.words]
        is_left = 2 * sum(bool(_RIGHT_TO_LEFT.search(text)) for text in texts) > len(texts)
        return " ".join(reversed(texts) if is_left else texts)

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


def words_of(letters: Sequence[Word]) -> list[Word]:
    """Return the words that a page's letters become, upright ones first.

    Letters printed twice in one place (a shadow, imitated bold) count once; those without a known
    meaning do not count.
    """
    by_turn: dict[int, list[Word]] = {}
    seen: set[tuple[str, int, int]] = set()
    last: Word | None = None
    for letter in letters:
        text = letter.text = _clean(letter.text)
        if text == " ":
            if last is not None:
                last.spaced = True
            last = None
            continue
        if letter.turn:
            place = Box(letter.x0, letter.top, letter.x1, letter.bottom).turned(letter.turn)
            letter.x0, letter.top, letter.x1, letter.bottom = place
        keys = {(text, round(letter.x0 + shift), round(letter.top)) for shift in (-0.3, 0.3)}
        if not text or keys & seen:
            continue
        seen |= keys
        if (
            last is not None
            and last.turn == letter.turn
            and abs(letter.bottom - last.bottom) < 0.25 * letter.size
            and -0.5 * letter.size < letter.x0 - last.x1 < _GAP * letter.size
            and letter.x1 > last.x0
        ):
            last.text += text
            last.x1 = max(last.x1, letter.x1)
            last.top, last.bottom = min(last.top, letter.top), max(last.bottom, letter.bottom)
            last.bold, last.mono = last.bold and letter.bold, last.mono and letter.mono
        else:
            last = letter
            by_turn.setdefault(letter.turn, []).append(last)
    words = [word for _, parts in sorted(by_turn.items()) for word in _joined(parts)]
    for word in words:
        place = Box(word.x0, word.top, word.x1, word.bottom).turned(-word.turn % 360)
        word.x0, word.top, word.x1, word.bottom = place
        # A lone letter without a known meaning is a bullet.
        text = "•" if word.text == _SIGN else word.text.replace(_SIGN, "")
        word.text = unicodedata.normalize("NFC", text)
        if _RIGHT_TO_LEFT.search(word.text):  # was read from left to right; numbers are so
            parts = re.findall(r"\d[\d.,:/]*\d|\d|\D+", word.text)
            texts = [part if part[0].isdecimal() else part[::-1] for part in reversed(parts)]
            word.text = "".join(texts)
    return [word for word in words if word.text]


def _clean(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text
    if text.isspace():
        return " "
    text = _UNKNOWN.sub(_SIGN, _LETTERS.get(text, text))
    return "".join(c for c in text if c.isprintable() or unicodedata.category(c) == "Co")


def _joined(words: list[Word]) -> list[Word]:
    """Return words with those joined that touch on the page but are apart in the file."""
    joined: list[Word] = []
    for line in lines_of(words):
        last: Word | None = None
        for word in line.words:
            # In Hebrew or Arabic in reading order the space is on the other side.
            if (
                last is not None
                and (not last.spaced or _RIGHT_TO_LEFT.match(last.text[-1]))
                and abs(word.size - last.size) < 0.1
                and abs(word.bottom - last.bottom) < 0.15 * word.size
                and -0.2 * word.size < word.x0 - last.x1 < 0.1 * word.size
            ):
                last.text += word.text
                last.x1, last.spaced = max(last.x1, word.x1), word.spaced
            else:
                joined.append(word)
                last = word
    return joined


def lines_of(words: Iterable[Word]) -> list[Line]:
    """Return words gathered into lines from top to bottom: those that overlap by half in height."""
    rows: list[tuple[float, float, list[Word]]] = []
    for word in sorted(words, key=lambda word: (word.top + word.bottom, word.x0)):
        for at in range(len(rows) - 1, max(-1, len(rows) - 4), -1):
            top, bottom, members = rows[at]
            least = max(min(bottom - top, word.bottom - word.top), 0.1)
            if min(bottom, word.bottom) - max(top, word.top) >= 0.5 * least:
                members.append(word)
                if word.bottom - word.top > bottom - top:
                    rows[at] = (word.top, word.bottom, members)
                break
        else:
            rows.append((word.top, word.bottom, [word]))
    return sorted((Line(members) for _, _, members in rows), key=lambda line: line.middle)


def segments(line: Line, gap: float = 0.6) -> list[Box]:
    """Return the pieces of a line between wide gaps; `gap` is in sizes of its letters."""
    pieces: list[Box] = []
    for word in line.words:
        if pieces and word.x0 - pieces[-1].x1 < gap * max(line.size, 4):
            pieces[-1] = Box.around([pieces[-1], word])
        else:
            pieces.append(Box(word.x0, word.top, word.x1, word.bottom))
    return pieces
