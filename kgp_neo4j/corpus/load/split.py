"""Split a text into sentences and into passages without losing a character.

Both tile the text, in characters (code points); white space belongs to the piece before it.
"""

import re
import sys
from bisect import bisect_right
from typing import NamedTuple

import regex

from kgp_neo4j.text.words import LISTS

#: Part of every document's fingerprint: raise it when the same text is split differently.
VERSION = 2
#: Characters of a passage by default.
DEFAULT_SIZE = 1_000
#: Characters up to which a record that is a passage already stays one.
WHOLE_LIMIT = 10_000

# How good a place is to end a passage, best last; a passage should never end on a heading.
_AFTER_HEADING, _SENTENCE, _LINE, _PARAGRAPH, _BEFORE_HEADING = range(5)

# Every alternative matches in any context (and never backtracks), so that the scan is linear even
# on a megabyte of full stops.
_STOP = re.compile(
    r"(?P<stop>[.!?…‼⁇⁈⁉؟۔܀।॥።፧។៕။๛｡。！？．]++[\"'”’»›)\]}）］｝】〕」』〉》*_`]*+)(?P<after>\s*+)"
    r"|(?P<lines>[\n\r\f\v\x85\u2028\u2029]\s*+)"
)
_NEWLINE = re.compile(r"\r\n|[\n\r\v\x85\u2028]|[\f\u2029]")
_MARKED_HEADING = re.compile(r"#{1,6}[ \t]")
_ITEM = re.compile(r"[-*+•‣◦|>][ \t]|\(?\d{1,3}[.)][ \t]")
#: A line of a form: "Date of incident: 12 March". Wrapped prose begins a line so only by chance.
_LABELLED = re.compile(r"[^\W\d_a-z][^:.!?|\n]{0,40}:[ \t]+\S")
_CLAUSE = re.compile(r"[,;:—–)\]、，；：،؛][\"'”’»]?+\s++|[、，；：]")
_SPACE = re.compile(r"\s++")
#: Characters of what a person sees as one, at most.
_GRAPHEME = 200
#: Characters of a heading at most: a line alone and without a full stop.
_HEADING_LENGTH = 80
_LEADING, _NUMBERED, _DOUBTFUL, _OPENERS = (
    frozenset(LISTS["abbreviations"][kind].split())
    for kind in ("leading", "numbered", "doubtful", "openers")
)
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘«—–/]*\Z")
_WORD_AFTER = re.compile(r"[\"'“‘«‹(\[{「『（*_`¿¡]*+(?P<word>\w*+)")
_ACRONYM = re.compile(r"(?:\w\.)+\w")
#: Letters before a stop that are read; a longer word is no abbreviation.
_LOOK_BACK = 32
# Marks of scripts that write no space after them.
_NEEDS_NO_SPACE = frozenset("。！？｡．。")
_JOINER = "\u200d"
_GRAPHEMES = regex.compile(r"\X")
#: Characters before a cut that are read: a row of flags has to be read from its beginning.
_FLAGS = 200


def _ends_sentence(text: str, stop: int, visible_end: int, end: int) -> bool:
    """Return whether the mark at `stop` ends a sentence, so that the next one begins at `end`.

    `visible_end` is the offset after the mark and its closing quotes, `end` after the white space
    that follows; `0 < end < len(text)`.
    """
    mark = text[stop]
    if any(character in _NEEDS_NO_SPACE for character in text[stop : min(visible_end, stop + 3)]):
        return True
    match = _WORD_AFTER.match(text, end)
    after = match["word"] if match else ""
    before = _WORD_BEFORE.findall(text, max(0, stop - _LOOK_BACK), stop)[0]
    if visible_end == end:
        return mark in ".!?" and _is_glued(before, after, text, stop, visible_end)
    # "Yahoo! is", '"Why?" he asked' and "approx. five" continue the sentence.
    if after[:1].islower():
        return False
    if mark != "." or visible_end - stop > 1:
        return True
    return _stop_ends(before, after, text, stop)


def _stop_ends(before: str, after: str, text: str, stop: int) -> bool:
    """Decide for a single full stop between `before` and white space."""
    word = before.lower()
    if word in _LEADING:
        return False
    if word in _NUMBERED:
        return not after[:1].isdigit()
    is_initial = len(before) == 1 and before.isupper()  # "J. Smith", but "vitamin C. The"
    if is_initial or word in _DOUBTFUL or _ACRONYM.fullmatch(before):
        return after.lower() in _OPENERS
    if word.isdigit() and len(word) <= 3:
        start = stop - len(word)
        return not (start == 0 or text[start - 1] in "\n\r")  # "1. First" numbers an item
    return True


def _is_glued(before: str, after: str, text: str, stop: int, end: int) -> bool:
    """Decide for a mark without a space after it: 2WikiMultihopQA writes "of Elmham.The date"."""
    if end - stop > 3 or not before or "." in before or "/" in before or "@" in before:
        return False
    last = before[-1]
    if not (last == ")" or last.isdigit() or (len(before) > 1 and last.islower())):
        return False
    begins = len(after) > 1 and after[0].isupper() and after[1:].islower()
    if not begins and not (after in ("A", "I") and text[end : end + 2].endswith(" ")):
        return False
    # "Node.Js" and "example.Com" are names, not sentences.
    follows = text[end + len(after) : end + len(after) + 1]
    return follows not in (".", "/", "@", "(", "_")


def _inside_grapheme(text: str, offset: int) -> bool:
    """Return whether a cut at `offset` would split what a person sees as one character.

    Graphemes are those of Unicode (UAX 29), with whatever a joiner joins.
    """
    if not 0 < offset < len(text):
        return False
    before, after = text[offset - 1], text[offset]
    if before == _JOINER:
        return True
    if after < "\u0300":
        return (before, after) == ("\r", "\n")
    low = max(0, offset - _FLAGS)
    # Of a part: the whole would be read from its beginning each time.
    graphemes = _GRAPHEMES.finditer(text[low : offset + 1])
    return all(low + grapheme.end() != offset for grapheme in graphemes)


class _Boundary(NamedTuple):
    """A place where a piece may end: with its white space, without it, and how good it is."""

    end: int
    visible_end: int
    strength: int


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text as (start, end) offsets that tile it, in linear time."""
    ends = [b.end for b in _boundaries(text)]
    return list(zip([0, *ends[:-1]], ends, strict=True)) if text else []


def passages(text: str, size: int = DEFAULT_SIZE) -> list[tuple[int, int]]:
    """Return the (start, end) of passages of whole sentences, at most `size` characters each.

    White space at a passage's ends does not count against `size`, unless it is longer than that and
    than 1,000. A sentence longer than `size` is cut at a clause, else a space, else between two
    characters as a person sees them.
    """
    if not text:
        return []
    gap = max(size, DEFAULT_SIZE)
    if len(text) <= size + gap and len(text.strip()) <= size:
        return [(0, len(text))]  # no look at its sentences is needed
    boundaries = _boundaries(text)
    visible_ends = [boundary.visible_end for boundary in boundaries]
    ends = [boundary.end for boundary in boundaries]
    pieces: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        begin = _skip_space(text, start, start + gap)
        first = bisect_right(ends, start)
        last = bisect_right(visible_ends, begin + size, lo=first)
        if begin == start + gap:
            end = begin
        elif last == len(boundaries):
            end = len(text)
        elif last > first:
            end = _best(boundaries[first:last], begin + size // 2)
        else:
            end = _cut(text, begin, begin + size)
        end = min(end, begin + size + gap)
        pieces.append((start, end))
        start = end
    return pieces


def _best(boundaries: list[_Boundary], half: int) -> int:
    """Return the strongest boundary in the second half, the last of equals, else the last one."""
    best = boundaries[-1]
    for boundary in reversed(boundaries[:-1]):
        # A short passage is better than one that ends on a heading.
        if boundary.visible_end < half and best.strength != _AFTER_HEADING:
            break
        if boundary.strength > best.strength:
            best = boundary
    return best.end


def _cut(text: str, begin: int, limit: int) -> int:
    """Return where to cut a sentence that does not fit: after `begin`, at most at `limit`."""
    half = begin + (limit - begin) // 2
    for pattern, low in ((_CLAUSE, half), (_SPACE, begin + 1)):
        places = [
            end
            for match in pattern.finditer(text, low, min(len(text), limit + 1))
            if begin < match.start() + len(match[0].rstrip()) <= limit
            and not _inside_grapheme(text, end := _skip_space(text, match.end()))
        ]
        if places:
            return places[-1]
    least = max(begin, limit - _GRAPHEME)
    cut = next((at for at in range(limit, least, -1) if not _inside_grapheme(text, at)), limit)
    return _skip_space(text, cut)


def _skip_space(text: str, offset: int, end: int = sys.maxsize) -> int:
    space = _SPACE.match(text, offset, end)
    return space.end() if space else offset


def _boundaries(text: str) -> list[_Boundary]:
    """Return all places where a sentence ends, in order; the last one is the end of the text."""
    boundaries: list[_Boundary] = []
    line_start = _skip_space(text, 0)
    before_line = -1  # index of the boundary that this line follows
    for match in _STOP.finditer(text):
        end = match.end()
        if end == len(text):
            break
        gap, visible_end = match["after"], match.start("after")
        if match["stop"] is None:
            gap, visible_end = match["lines"], match.start()
            while visible_end > line_start and text[visible_end - 1].isspace():
                visible_end -= 1
        if end <= line_start or _inside_grapheme(text, end):
            continue
        breaks = sum(2 if end in "\f\u2029" else 1 for end in _NEWLINE.findall(gap))
        strength = _strength(text, breaks, line_start, end)
        is_stop = match["stop"] is not None
        if strength is None and is_stop and _ends_sentence(text, match.start(), visible_end, end):
            strength = _SENTENCE
        if strength is not None:
            if strength >= _PARAGRAPH and _reads_as_heading(text, line_start, visible_end):
                if before_line >= 0:
                    before = boundaries[before_line]
                    boundaries[before_line] = before._replace(strength=_BEFORE_HEADING)
                strength = _AFTER_HEADING
            boundaries.append(_Boundary(end, visible_end, strength))
        if breaks:
            line_start = end
            before_line = len(boundaries) - 1 if strength is not None else -1
    boundaries.append(_Boundary(len(text), len(text.rstrip()), _BEFORE_HEADING))
    return boundaries


def _strength(text: str, breaks: int, line_start: int, end: int) -> int | None:
    """Return the strength of a boundary from the layout alone, None where there is none."""
    if not breaks:
        return None
    if _MARKED_HEADING.match(text, end):
        return _BEFORE_HEADING
    if _MARKED_HEADING.match(text, line_start):
        return _AFTER_HEADING
    if breaks > 1:
        return _PARAGRAPH
    return _LINE if _ITEM.match(text, end) or _LABELLED.match(text, end) else None


def _reads_as_heading(text: str, start: int, end: int) -> bool:
    if not 0 < end - start <= _HEADING_LENGTH:
        return False
    return bool(_MARKED_HEADING.match(text, start)) or not _STOP.search(text, start, end)
