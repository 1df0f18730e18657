"""Paragraphs from lines: joined by spaces, words that were broken at line ends put together."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from kgp_neo4j.load.pdf.letters import Line, line_text

__all__ = ["Lexicon", "joined", "paragraphs"]

_BROKEN = re.compile(r"(?:^|[^\w])([^\W\d_]+)-$")
_HANGING = re.compile(r"[^\W_][-–—/]$")
_START = re.compile(r"^[^\W\d_]+")
_ITEM = re.compile(
    r"(?:[•●○▪■►▶‣◦–—*·-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\(\d+\)|\[\d{1,3}\])(?:\s|$)"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]")
_MOST = 200_000
#: First parts of words that keep their hyphen, unless the document spells the word without.
_KEEPING = frozenset(("self", "well", "half", "cross", "quasi", "vice"))


class Lexicon:
    """The words of a document that stand within lines: they say how a broken word is spelt."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def learn(self, lines: Iterable[Line]) -> None:
        """Add the words of lines, but for those at their ends."""
        for line in lines:
            self.add(word.text for word in line.words[1:-1])

    def add(self, words: Iterable[str]) -> None:
        """Add words as they are spelt."""
        if len(self._words) < _MOST:
            self._words.update(w.strip("()[]{}.,;:!?\"'“”‘’").casefold() for w in words)

    def joins(self, first: str, second: str) -> bool:
        """Say whether `first-` at a line's end and `second` are one word without the hyphen."""
        if not second[:1].islower() or len(first) < 2:
            return False
        one, two = first.casefold(), second.casefold()
        if one + two in self._words:
            return True
        if f"{one}-{two}" in self._words or one in _KEEPING:
            return False
        return not (one in self._words and two in self._words and len(one) > 3 and len(two) > 3)


def paragraphs(lines: Sequence[Line], lexicon: Lexicon) -> list[str]:
    """Return the paragraphs of lines that follow one another in one column.

    A wider space, another size of letters, a bold line, an indented line, a list's mark, or a short
    line that ends a sentence begins a new one. Code keeps its lines.
    """
    if not lines:
        return []
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    gaps = sorted(b.top - a.bottom for a, b in itertools.pairwise(lines) if b.top > a.top + 1)
    usual = gaps[len(gaps) // 4] if gaps else 0.0
    groups: list[list[Line]] = [[lines[0]]]
    for above, line in itertools.pairwise(lines):
        if _begins(above, line, groups[-1], usual, left, right):
            groups.append([line])
        else:
            groups[-1].append(line)
    return [text for group in groups if (text := _text(group, lexicon))]


def joined(texts: Sequence[str], lexicon: Lexicon) -> str:
    """Return lines of text as one, hyphens at line ends resolved."""
    made = ""
    for text in texts:
        if not made:
            made = text
            continue
        broken, start = _BROKEN.search(made), _START.match(text)
        if broken and start:
            made = made[:-1] + text if lexicon.joins(broken[1], start[0]) else made + text
        elif _goes_on(made, text):
            made += text
        else:
            made = f"{made} {text}"
    return made


def _goes_on(before: str, after: str) -> bool:
    """Say whether no space parts two lines: after a dash within a word, and in Chinese."""
    if _HANGING.search(before):
        return after[:1].isalnum()
    return bool(_CJK.match(before[-1]) and _CJK.match(after))


def _begins(
    above: Line, line: Line, group: Sequence[Line], usual: float, left: float, right: float
) -> bool:
    size = max(line.size, above.size)
    gap = line.top - above.bottom
    if gap > max(usual, 0) + 0.45 * size or gap > 1.2 * size:
        return True
    if line.middle < above.middle and line.bottom < above.top:
        return True  # the next column
    small = min(line.size, above.size)
    if size - small > 0.12 * size and len(line) > 3 and len(above) > 3:
        return True
    if line.bold != above.bold and len(line) > 3 and len(above) > 3:
        first = line if line.bold else above
        # A bold line that ends early is a heading; bold words within a paragraph are not.
        return first.x1 < right - 2 * size or gap > usual + 0.2 * size
    if line.mono and above.mono:
        return False
    text = line_text(line.words)
    if _ITEM.match(text):
        return True
    indent = line.x0 - above.x0
    if 0.7 * size < indent < 5 * size and not _ITEM.match(line_text(group[0].words)):
        return len(group) > 1 or above.x1 > right - 3 * size
    if (
        line.x0 < above.x0 - 0.7 * size
        and len(group) > 1
        and _ITEM.match(line_text(group[0].words))
    ):
        return True
    ended = line_text(above.words).rstrip("\"'”’)").endswith((".", "!", "?", ":"))
    return ended and above.x1 < right - 0.25 * (right - left) and text[0].isupper()


def _text(group: Sequence[Line], lexicon: Lexicon) -> str:
    texts = [line_text(line.words) for line in group]
    if len(group) > 1 and sum(line.mono for line in group) > 0.7 * len(group):
        least = min(line.x0 for line in group)
        step = max(0.5 * group[0].size, 1.0)
        return "\n".join(
            " " * min(40, round((line.x0 - least) / step)) + text
            for line, text in zip(group, texts, strict=True)
        )
    return joined(texts, lexicon)
