"""Words from the letters of a page: ligatures resolved, turned text in its own direction."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

__all__ = [
    "Box",
    "Letter",
    "Line",
    "PageObjects",
    "Shape",
    "Word",
    "lines_of",
    "objects_of",
    "page_turn",
    "segments",
    "turned",
    "words_of",
]


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

    def within(self, other: Box, slack: float) -> bool:
        """Return whether all of the box is inside `other`, or at most `slack` outside it."""
        return (
            other.x0 - slack <= self.x0
            and self.x1 <= other.x1 + slack
            and other.top - slack <= self.top
            and self.bottom <= other.bottom + slack
        )

    @staticmethod
    def around(parts: Iterable[Placed]) -> Box:
        """Return the smallest box around some words, lines or boxes."""
        x0s, tops, x1s, bottoms = zip(*((p.x0, p.top, p.x1, p.bottom) for p in parts), strict=True)
        return Box(min(x0s), min(tops), max(x1s), max(bottoms))


#: Anything with a place on a page.
Placed: TypeAlias = "Box | Word | Line"


def turned(box: Box, turn: int, width: float, height: float) -> Box:
    """Return a box of a page in the coordinates of the page turned so that its text is upright."""
    x0, top, x1, bottom = box
    if turn == 90:
        return Box(height - bottom, x0, height - top, x1)
    if turn == 270:
        return Box(top, width - x1, bottom, width - x0)
    if turn == 180:
        return Box(width - x1, height - bottom, width - x0, height - top)
    return box


# --- Objects ---


class Letter(NamedTuple):
    """A letter with its place; `turn` is 90 where it is read upwards, 270 downwards."""

    text: str
    box: Box
    size: float
    font: str
    turn: int


class Shape(NamedTuple):
    """A drawn `line`, `rect` or `curve` with its corners."""

    kind: str
    box: Box
    points: Sequence[tuple[float, float]]


@dataclass(slots=True)
class PageObjects:
    """The objects on a page, in points from its top left corner."""

    width: float
    height: float
    letters: list[Letter] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    pictures: int = 0


def objects_of(page: Any) -> PageObjects:
    """Return the objects on a page of pdfplumber's, without letters and shapes outside it."""
    from pdfminer.layout import LTChar, LTContainer, LTCurve, LTImage, LTLine, LTRect
    from pdfminer.pdfinterp import PDFPageInterpreter

    from kgp_neo4j.corpus.load.pdf.bounds import BoundedDevice

    objects = PageObjects(float(page.width), float(page.height))
    # pdfplumber's own lists copy some forty attributes of each letter, which takes as long as
    # everything else together.
    device = BoundedDevice(page.pdf.rsrcmgr, pageno=page.page_number)
    PDFPageInterpreter(page.pdf.rsrcmgr, device).process_page(page.page_obj)
    waiting: list[Any] = list(reversed(device.get_result()._objs))
    while waiting:
        part = waiting.pop()
        if isinstance(part, LTContainer) and not isinstance(part, LTChar):
            waiting += reversed(list(part))
        elif isinstance(part, LTImage):
            objects.pictures += 1
        elif isinstance(part, LTChar | LTCurve) and (box := _box(part, objects)) is not None:
            if isinstance(part, LTChar):
                font = part.fontname
                name = font.decode("latin-1") if isinstance(font, bytes) else str(font)
                letter = Letter(part.get_text(), box, float(part.size), name, _turn(part.matrix))
                objects.letters.append(letter)
            else:
                kind = "rect" if isinstance(part, LTRect) else "curve"
                kind = "line" if isinstance(part, LTLine) else kind
                objects.shapes.append(Shape(kind, box, part.pts))
    return objects


def _box(part: Any, page: PageObjects) -> Box | None:
    """Return an object's box, None where its middle is outside the page."""
    x0, top, x1, bottom = part.x0, page.height - part.y1, part.x1, page.height - part.y0
    x, y = (x0 + x1) / 2, (top + bottom) / 2
    # Also excludes values that are not numbers.
    if not (-2 <= x <= page.width + 2 and -2 <= y <= page.height + 2):
        return None
    return Box(
        *(max(x0, -page.width), max(top, -page.height)),
        *(min(x1, 2 * page.width), min(bottom, 2 * page.height)),
    )


def _turn(matrix: tuple[float, ...]) -> int:
    a, b = matrix[0], matrix[1]
    if abs(b) <= abs(a):
        return 0 if a >= 0 else 180
    return 90 if b > 0 else 270


# --- Words ---

#: A gap of this share of the letters' size separates two words; TeX's tightest space is 0.22.
_GAP = 0.18
#: Replaces a letter without a known meaning until its word is complete.
_SIGN = "\ue000"
_UNKNOWN = re.compile(r"\(cid:\d+\)")
_BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|bx\d|[-,]bd\b", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|cmtt", re.IGNORECASE)
#: Replacements of letters: ligatures, and characters that only look like a space or a hyphen.
_LETTERS = {
    **{chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},
    "\xa0": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\u200a": " ", "\u202f": " ",
    "\t": " ", "\n": " ", "\r": " ", "\xad": "-", "\u2010": "-", "\u2011": "-", "\ufeff": "",
    "\u200b": "", "\u200c": "", "\u200d": "", "\ufffd": "", "\uf0b7": "•", "\uf0a7": "▪",
    "\uf0d8": "►", "\uf0fc": "✓",
}  # fmt: skip


@dataclass(slots=True, eq=False)
class Word:
    """A word with its place; `turn` is 90 for text read upwards, 270 downwards, 180 upside down."""

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
        """Return its text, from right to left where most letters are such."""
        texts = [word.text for word in self.words]
        strong = Counter(unicodedata.bidirectional(letter) for text in texts for letter in text)
        if strong["R"] + strong["AL"] > strong["L"]:
            texts.reverse()
        return " ".join(texts)

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


def page_turn(letters: Sequence[Letter]) -> int:
    """Return the turn of a whole page: 0 unless most of its letters are turned (a table on its
    side).
    """
    turns = Counter(letter.turn for letter in letters if not letter.text.isspace())
    turn, count = turns.most_common(1)[0] if turns else (0, 0)
    return turn if turn and count > 0.7 * turns.total() else 0


def words_of(letters: Sequence[Letter], turn: int, width: float, height: float) -> list[Word]:
    """Return the words of a page's letters, upright ones first.

    Letters printed twice in one place (a shadow, imitated bold) count once; those without a known
    meaning do not count.
    """
    by_turn: dict[int, list[Word]] = {}
    fonts: dict[str, tuple[bool, bool]] = {}
    monospaced = _monospaced_fonts(letters)
    seen: set[tuple[str, int, int]] = set()
    last: Word | None = None
    for letter in letters:
        text = _clean(letter.text)
        if not text:
            continue
        if text == " ":
            if last is not None:
                last.spaced = True
            last = None
            continue
        own = (letter.turn - turn) % 360
        box = letter.box
        if turn or own:
            box = turned(turned(box, turn, width, height), own, 0, 0)
        keys = {(text, round(box.x0 + shift), round(box.top)) for shift in (-0.3, 0.3)}
        if keys & seen:
            continue
        seen |= keys
        if letter.font not in fonts:
            fonts[letter.font] = (bool(_BOLD.search(letter.font)), letter.font in monospaced)
        bold, mono = fonts[letter.font]
        if last is not None and last.turn == own and _follows(last, box, max(letter.size, 1.0)):
            last.text += text
            last.x1 = max(last.x1, box.x1)
            last.top, last.bottom = min(last.top, box.top), max(last.bottom, box.bottom)
            last.bold, last.mono = last.bold and bold, last.mono and mono
        else:
            last = Word(text, *box, letter.size, bold, mono, own)
            by_turn.setdefault(own, []).append(last)
    return [
        _finished(word, own)
        for own, words in sorted(by_turn.items())
        for word in _joined(words)
        if _is_known(word)
    ]


def _follows(word: Word, box: Box, size: float) -> bool:
    """Return whether a letter in `box` goes on a word."""
    is_level = abs(box.bottom - word.bottom) < 0.25 * size
    return is_level and -0.5 * size < box.x0 - word.x1 < _GAP * size and box.x1 > word.x0


def _joined(words: list[Word]) -> list[Word]:
    """Return words with those joined that touch on the page but are apart in the file."""
    joined: list[Word] = []
    for line in lines_of(words):
        last: Word | None = None
        for word in line.words:
            # In Hebrew or Arabic in reading order the space is on the other side.
            if (
                last is not None
                and (not last.spaced or _is_right_to_left(last.text[-1]))
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


def _is_known(word: Word) -> bool:
    """Return whether a word stays without its unknown letters; a lone one is a mark or bullet."""
    if _SIGN in word.text:
        word.text = "•" if word.text == _SIGN else word.text.replace(_SIGN, "")
    return bool(word.text)


def _finished(word: Word, own: int) -> Word:
    """Put a turned word's box back to its place on the page, and its letters in reading order."""
    box = turned(Box(word.x0, word.top, word.x1, word.bottom), -own % 360, 0, 0)
    word.x0, word.top, word.x1, word.bottom = box
    word.text = unicodedata.normalize("NFC", word.text)
    if any(map(_is_right_to_left, word.text)):
        word.text = _right_to_left(word.text)
    return word


def _is_right_to_left(letter: str) -> bool:
    return letter >= "\u0590" and unicodedata.bidirectional(letter) in ("R", "AL")


def _right_to_left(text: str) -> str:
    """Return letters that were read from left to right in their own order, numbers as they are."""
    return "".join(
        part if part[0].isdecimal() else part[::-1]
        for part in reversed(re.findall(r"\d[\d.,:/]*\d|\d|\D+", text))
    )


def lines_of(words: Iterable[Word]) -> list[Line]:
    """Return words gathered into lines from top to bottom: those that overlap by half in height."""
    rows: list[tuple[float, float, list[Word]]] = []
    for word in sorted(words, key=lambda word: (word.top + word.bottom, word.x0)):
        best, share = -1, 0.5
        for at in range(max(0, len(rows) - 3), len(rows)):
            top, bottom, _ = rows[at]
            least = min(bottom - top, word.bottom - word.top)
            overlap = (min(bottom, word.bottom) - max(top, word.top)) / max(least, 0.1)
            if overlap >= share:
                best, share = at, overlap
        if best < 0:
            rows.append((word.top, word.bottom, [word]))
        else:
            top, bottom, members = rows[best]
            if word.bottom - word.top > bottom - top:
                top, bottom = word.top, word.bottom
            rows[best] = (top, bottom, [*members, word])
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


def _clean(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text
    text = _LETTERS.get(text, text)
    if len(text) > 1 and "(cid:" in text:
        text = _UNKNOWN.sub(_SIGN, text)
    if text and text != " " and not text.isprintable():
        text = "".join(c for c in text if c.isprintable() or unicodedata.category(c) == "Co")
    return text


def _monospaced_fonts(letters: Sequence[Letter]) -> set[str]:
    """Return the fonts whose letters are all of one width."""
    widths: dict[str, dict[str, float]] = {}
    for letter in letters:
        if letter.turn == 0 and letter.text.isalpha():
            width = letter.box.width / max(letter.size, 0.1)
            widths.setdefault(letter.font, {})[letter.text] = width
    fonts = set()
    for font, by_letter in widths.items():
        is_even = max(by_letter.values()) - min(by_letter.values()) < 0.02
        if (is_even and len(by_letter) >= 8) or (len(by_letter) < 8 and _MONO.search(font)):
            fonts.add(font)
    return fonts
