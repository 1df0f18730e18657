"""Words from the letters of a page: ligatures undone, turned text read its own way."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgp_neo4j.load.pdf.boxes import Box, turned
from kgp_neo4j.load.pdf.objects import Letter

__all__ = [
    "Line",
    "Word",
    "line_text",
    "lines_of",
    "page_turn",
    "segments",
    "words_of",
]

#: A gap of this share of the letters' size parts two words; TeX's tightest space is 0.22.
_GAP = 0.18
#: Stands for a letter without a known meaning until its word is whole.
_SIGN = "\ue000"
_UNKNOWN = re.compile(r"\(cid:\d+\)")
_BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|bx\d|[-,]bd\b", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|cmtt", re.IGNORECASE)
#: What letters become: ligatures, and characters that only look like a space or a hyphen.
_LETTERS = {
    **{chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},
    "\xa0": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\u200a": " ", "\u202f": " ",
    "\t": " ", "\n": " ", "\r": " ", "\xad": "-", "\u2010": "-", "\u2011": "-", "\ufeff": "",
    "\u200b": "", "\u200c": "", "\u200d": "", "\ufffd": "", "\uf0b7": "•", "\uf0a7": "▪",
    "\uf0d8": "►", "\uf0fc": "✓",
}  # fmt: skip


@dataclass(slots=True)
class Word:
    """A word where it stands; `turn` is 90 for text read upwards, 270 downwards, 180 overhead."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool = False
    mono: bool = False
    turn: int = 0
    #: A space follows in the file, so that nothing is joined to the word.
    spaced: bool = False


@dataclass(slots=True)
class Line:
    """Words that stand side by side, from left to right."""

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
    def bold(self) -> bool:
        """All of it is bold."""
        return all(word.bold for word in self.words)

    @property
    def mono(self) -> bool:
        """Most of it is set in letters of one width, as code is."""
        return sum(len(w.text) for w in self.words if w.mono) > 0.6 * len(self)

    @property
    def middle(self) -> float:
        """Half way between top and bottom."""
        return (self.top + self.bottom) / 2

    def __len__(self) -> int:
        return sum(len(word.text) for word in self.words)


def page_turn(letters: Sequence[Letter]) -> int:
    """Return how a whole page is turned, 0 unless most of its letters are (a table on its side)."""
    turns = Counter(letter.turn for letter in letters if not letter.text.isspace())
    turn, count = turns.most_common(1)[0] if turns else (0, 0)
    return turn if turn and count > 0.7 * turns.total() else 0


def words_of(letters: Sequence[Letter], turn: int, width: float, height: float) -> list[Word]:
    """Return the words of a page's letters, upright ones first.

    Letters printed twice in one place (a shadow, a poor man's bold) count once; those without a
    known meaning do not count.
    """
    parts: dict[int, list[Word]] = {}
    fonts: dict[str, tuple[bool, bool]] = {}
    even = _even_fonts(letters)
    seen: set[tuple[str, int, int]] = set()
    pen = _Pen()
    for letter in letters:
        text = _clean(letter.text)
        if not text:
            continue
        if text == " ":
            pen.lift()
            continue
        own = (letter.turn - turn) % 360
        box = letter.box
        if turn or own:
            box = turned(turned(box, turn, width, height), own, 0, 0)
        keys = (
            (text, round(box.x0 - 0.3), round(box.top)),
            (text, round(box.x0 + 0.3), round(box.top)),
        )
        if keys[0] in seen or keys[1] in seen:
            continue
        seen.update(keys)
        if letter.font not in fonts:
            fonts[letter.font] = (bool(_BOLD.search(letter.font)), letter.font in even)
        bold, mono = fonts[letter.font]
        pen.write(parts.setdefault(own, []), text, box, letter.size, bold, mono, own)
    made: list[Word] = []
    for own, words in sorted(parts.items()):
        made += (_back(word, own) for word in _joined(words) if _is_known(word))
    return made


class _Pen:
    """Writes letters into words in the order of the file."""

    def __init__(self) -> None:
        self._last: Word | None = None

    def lift(self) -> None:
        if self._last is not None:
            self._last.spaced = True
        self._last = None

    def write(
        self, words: list[Word], text: str, box: Box, size: float, bold: bool, mono: bool, turn: int
    ) -> None:
        last = self._last
        if last is not None and last.turn == turn:
            scale = max(size, 1.0)
            gap = box.x0 - last.x1
            level = abs(box.bottom - last.bottom) < 0.25 * scale
            if level and -0.5 * scale < gap < _GAP * scale and box.x1 > last.x0:
                last.text += text
                last.x1 = max(last.x1, box.x1)
                last.top, last.bottom = min(last.top, box.top), max(last.bottom, box.bottom)
                last.bold, last.mono = last.bold and bold, last.mono and mono
                return
        self._last = Word(text, *box, size, bold, mono, turn)
        words.append(self._last)


def _joined(words: list[Word]) -> list[Word]:
    """Return words with those put together that touch but lie apart in the file."""
    made: list[Word] = []
    for line in lines_of(words):
        last: Word | None = None
        for word in line.words:
            # In Hebrew or Arabic in reading order the space is on the other side.
            open_ = last is not None and (not last.spaced or _is_right_to_left(last.text[-1]))
            close = last is not None and open_ and abs(word.size - last.size) < 0.1
            if (
                last is not None
                and close
                and abs(word.bottom - last.bottom) < 0.15 * word.size
                and -0.2 * word.size < word.x0 - last.x1 < 0.1 * word.size
            ):
                last.text += word.text
                last.x1, last.spaced = max(last.x1, word.x1), word.spaced
            else:
                made.append(word)
                last = word
    return made


def _is_known(word: Word) -> bool:
    """Say whether a word is left without its unknown letters; one alone is a mark, a bullet."""
    if _SIGN in word.text:
        word.text = "•" if word.text == _SIGN else word.text.replace(_SIGN, "")
    return bool(word.text)


def _back(word: Word, own: int) -> Word:
    """Put a turned word's box back to where it stands on the page."""
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
            top, bottom, held = rows[best]
            if word.bottom - word.top > bottom - top:
                top, bottom = word.top, word.bottom
            rows[best] = (top, bottom, [*held, word])
    return sorted((Line(held) for _, _, held in rows), key=lambda line: line.middle)


def line_text(words: Sequence[Word]) -> str:
    """Return the text of words side by side, from right to left where most letters are such."""
    texts = [word.text for word in words]
    strong = Counter(unicodedata.bidirectional(letter) for text in texts for letter in text)
    if strong["R"] + strong["AL"] > strong["L"]:
        texts.reverse()
    return " ".join(texts)


def segments(line: Line, gap: float = 0.6) -> list[Box]:
    """Return the pieces of a line that wide gaps part; `gap` is in sizes of its letters."""
    made: list[Box] = []
    for word in line.words:
        if made and word.x0 - made[-1].x1 < gap * max(line.size, 4):
            made[-1] = Box.around([made[-1], word])
        else:
            made.append(Box(word.x0, word.top, word.x1, word.bottom))
    return made


def _clean(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text
    text = _LETTERS.get(text, text)
    if len(text) > 1 and "(cid:" in text:
        text = _UNKNOWN.sub(_SIGN, text)
    if text and text != " " and not text.isprintable():
        text = "".join(c for c in text if c.isprintable() or unicodedata.category(c) == "Co")
    return text


def _even_fonts(letters: Sequence[Letter]) -> set[str]:
    """Return the fonts whose letters are all of one width."""
    widths: dict[str, dict[str, float]] = {}
    for letter in letters:
        if letter.turn == 0 and letter.text.isalpha():
            width = letter.box.width / max(letter.size, 0.1)
            widths.setdefault(letter.font, {})[letter.text] = width
    made = set()
    for font, found in widths.items():
        least, most = min(found.values()), max(found.values())
        if (len(found) >= 8 and most - least < 0.02) or (len(found) < 8 and _MONO.search(font)):
            made.add(font)
    return made
