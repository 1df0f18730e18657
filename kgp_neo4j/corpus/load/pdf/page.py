"""One page: find its words, tables and edges, then put its blocks in reading order."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kgp_neo4j.corpus.load.pdf.cells import PageTable
from kgp_neo4j.corpus.load.pdf.letters import (
    Box,
    Line,
    Word,
    line_text,
    lines_of,
    objects_of,
    page_turn,
    words_of,
)
from kgp_neo4j.corpus.load.pdf.recognition import can_recognise, recognised_words
from kgp_neo4j.corpus.load.pdf.rules import rules_of
from kgp_neo4j.corpus.load.pdf.tables import (
    CAPTION,
    Caption,
    aligned_tables,
    caption_of,
    contents,
    is_continued,
    printed_number,
    ruled_tables,
)

__all__ = [
    "Block",
    "Edges",
    "Flow",
    "Heading",
    "Lexicon",
    "PageParts",
    "blocks_of",
    "edges_of",
    "furniture",
    "joined",
    "paragraphs",
    "parts_of",
    "reading_order",
]

#: Lines and tables of one column (or of the page's full width), from top to bottom.
Flow: TypeAlias = list[Line | PageTable]

_DEPTH = 5
_EVER = 1e6
_KNOWN = 12
#: Lines that one search forward reads at most, which limits the time of a page.
_LONGEST = 300


def reading_order(
    words: Sequence[Word], grids: Sequence[PageTable], width: float, known: list[float]
) -> list[Flow]:
    """Return the lines and tables of a page as flows in reading order.

    A white gap through at least three lines, with running text on both sides, separates columns; a
    line or table across it ends them, and the rest is cut again (a recursive cut of the page along
    its gaps). `known` has the places of such gaps on the pages before, where two lines are enough;
    those of this page are added.
    """
    return _cut(words, list(grids), width, known, 0)


def _cut(
    words: Sequence[Word], grids: list[PageTable], width: float, known: list[float], depth: int
) -> list[Flow]:
    parts: Flow = sorted([*lines_of(words), *grids], key=_top)
    made: list[Flow] = []
    plain: Flow = []
    at = 0
    while at < len(parts):
        end, gaps = _columns(parts, at, width, known) if depth < _DEPTH else (at, [])
        if not gaps:
            plain.append(parts[at])
            at += 1
            continue
        if plain:
            made.append(plain)
            plain = []
        held = [w for part in parts[at:end] if isinstance(part, Line) for w in part.words]
        tables = [part for part in parts[at:end] if isinstance(part, PageTable)]
        bounds = [-_EVER, *gaps, _EVER]
        for x0, x1 in itertools.pairwise(bounds):
            column = [w for w in held if x0 <= (w.x0 + w.x1) / 2 < x1]
            inside = [g for g in tables if x0 <= (g.box.x0 + g.box.x1) / 2 < x1]
            made += _cut(column, inside, width, known, depth + 1)
        at = end
    if plain:
        made.append(plain)
    return made


def _columns(parts: Flow, start: int, width: float, known: list[float]) -> tuple[int, list[float]]:
    """Return the end of the longest run from `start` that gaps cut into columns, and the gaps."""
    gaps = [(-_EVER, _EVER)]
    left, right, bottom = _EVER, -_EVER, 0.0
    best: tuple[int, list[tuple[float, float]]] = (start, [])
    for at in range(start, min(len(parts), start + _LONGEST)):
        pieces = _pieces(parts[at])
        bottom = pieces[0].bottom if at == start else bottom
        if pieces[0].top - bottom > 60:
            break  # a picture across the page
        bottom = max(bottom, *(piece.bottom for piece in pieces))
        left, right = min(left, pieces[0].x0), max(right, pieces[-1].x1)
        gaps = _without(gaps, pieces)
        inner = [
            (a, b) for a, b in gaps if a > left - 1 and b < right + 1 and b - a >= _least(parts[at])
        ]
        if inner:
            best = (at + 1, inner)
        elif best[1] or (
            at > start
            and right - left > 0.75 * width
            and all(b <= left or a >= right for a, b in gaps)
        ):
            break
    end, inner = best
    is_known = all(any(a <= x <= b for x in known) for a, b in inner)
    found = [(a + b) / 2 for a, b in inner]
    while found:
        bad = _bad_column(parts[start:end], found, width, 2 if is_known else 3)
        if bad is None:
            break
        found.pop(min(max(bad - 1, 0), len(found) - 1) if bad else 0)
    if found and end - start > 4:
        known += [x for x in found if all(abs(x - other) >= 6 for other in known)]
        del known[:-_KNOWN]
    return (end, found) if found else (start, [])


def _bad_column(parts: Flow, gaps: Sequence[float], width: float, least: int) -> int | None:
    """Return the first column that has no running text or table, or None."""
    bounds = [-_EVER, *gaps, _EVER]
    full = 0
    for index, (x0, x1) in enumerate(itertools.pairwise(bounds)):
        lines = []
        has_table = False
        for part in parts:
            if isinstance(part, PageTable):
                has_table = has_table or x0 <= (part.box.x0 + part.box.x1) / 2 < x1
                continue
            held = [w for w in part.words if x0 <= (w.x0 + w.x1) / 2 < x1]
            if held:
                lines.append(held)
        if has_table:
            full += 1
            continue
        letters = sum(len(w.text) for held in lines for w in held)
        alpha = sum(c.isalpha() for held in lines for w in held for c in w.text)
        if len(lines) < least or letters < 10 * len(lines) or alpha < 0.5 * letters:
            return index
        left, right = min(h[0].x0 for h in lines), max(h[-1].x1 for h in lines)
        if right - left < 0.1 * width:
            return index
        filled = sum(h[-1].x1 > right - 0.2 * (right - left) for h in lines)
        words = sum(len(held) for held in lines)
        full += filled >= 0.4 * len(lines) and words >= 3 * len(lines)
    return None if full * 2 >= len(bounds) - 1 else 0


def _pieces(part: Line | PageTable) -> list[Box]:
    if isinstance(part, PageTable):
        return [part.box]
    return [Box(w.x0, w.top, w.x1, w.bottom) for w in part.words]


def _without(gaps: list[tuple[float, float]], pieces: Sequence[Box]) -> list[tuple[float, float]]:
    """Return the gaps without the extent of some boxes; narrow remainders are dropped."""
    made = []
    for a, b in gaps:
        at = a
        for piece in pieces:
            if piece.x1 <= at or piece.x0 >= b:
                continue
            if piece.x0 - at >= 5:
                made.append((at, piece.x0))
            at = max(at, piece.x1)
        if b - at >= 5:
            made.append((at, b))
    return made


def _least(part: Line | PageTable) -> float:
    return 6.0 if isinstance(part, PageTable) else max(0.7 * part.size, 5.0)


def _top(part: Line | PageTable) -> float:
    return part.box.top + 4 if isinstance(part, PageTable) else part.middle


# --- Paragraphs ---

_BROKEN = re.compile(r"(?:^|[^\w])([^\W\d_]+)-$")
_HANGING = re.compile(r"[^\W_][-–—/]$")
_START = re.compile(r"^[^\W\d_]+")
_ITEM = re.compile(
    r"(?:[•●○▪■►▶‣◦–—*·-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\(\d+\)|\[\d{1,3}\])(?:\s|$)"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]")
_MOST = 200_000
#: A heading begins with a capital, a number or a letter that has no case, and ends no sentence.
_HEADING = re.compile(r"(?=[^\W_])(?=.*[^\W\d_]{2})[^a-z].{2,118}[^.,;:]")
_HEADING_LINES = 3
#: First parts of words that keep their hyphen, unless the document spells the word without.
_KEEPING = frozenset(("self", "well", "half", "cross", "quasi", "vice"))


class Heading(str):
    """A paragraph that may be a heading by its form; its letters decide, compared with other
    blocks'.
    """

    __slots__ = ("bold", "size")
    bold: bool
    size: float

    def __new__(cls, text: str, size: float = 0.0, bold: bool = False) -> Heading:
        """Make one from a text, the size of its letters and whether all of them are bold."""
        made = super().__new__(cls, text)
        made.size, made.bold = size, bold
        return made


class Lexicon:
    """The words of a document within lines, which show how a broken word is spelt."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def learn(self, lines: Iterable[Line]) -> None:
        """Add the words of lines, except those at their ends."""
        for line in lines:
            self.add(word.text for word in line.words[1:-1])

    def add(self, words: Iterable[str]) -> None:
        """Add words as they are spelt."""
        if len(self._words) < _MOST:
            self._words.update(w.strip("()[]{}.,;:!?\"'“”‘’").casefold() for w in words)

    def joins(self, first: str, second: str) -> bool:
        """Return whether `first-` at a line's end and `second` are one word without the hyphen."""
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
    """Return whether two lines join without a space: after a dash within a word, and in Chinese."""
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
    is_mono = sum(line.mono for line in group) > 0.7 * len(group)
    if len(group) > 1 and is_mono:
        least = min(line.x0 for line in group)
        step = max(0.5 * group[0].size, 1.0)
        return "\n".join(
            " " * min(40, round((line.x0 - least) / step)) + text
            for line, text in zip(group, texts, strict=True)
        )
    text = joined(texts, lexicon)
    if len(group) > _HEADING_LINES or is_mono or not _HEADING.fullmatch(text):
        return text
    return Heading(text, max(line.size for line in group), all(line.bold for line in group))


# --- Headers and footers ---

#: Shares of a page's height above and below which headers and footers are.
_TOP, _BOTTOM = 0.13, 0.88
_ROWS = 4
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]{1,7}", re.IGNORECASE)
_ALONE = re.compile(
    r"(?:page|seite|p\.|página)?\s*[-–—|[(]*\s*(?P<number>\d{1,5}|[ivxlc]{1,7}|[A-Z]{1,2}-\d{1,4})"
    r"\s*[-–—|\])]*(?:\s*(?:of|von|de|/)\s*\d{1,5})?",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Edges:
    """The lines at the top and at the bottom of a page, the outermost first."""

    top: list[Line]
    bottom: list[Line]


def edges_of(words: Sequence[Word], height: float) -> Edges:
    """Return the lines of a page that may be its header and its footer."""
    lines = lines_of(word for word in words if not word.turn)
    top = [line for line in lines if line.bottom < _TOP * height][:_ROWS]
    bottom = [line for line in reversed(lines) if line.top > _BOTTOM * height][:_ROWS]
    return Edges(top, [line for line in bottom if line not in top])


def furniture(pages: Sequence[Edges], at: int) -> tuple[list[Line], list[Line], str]:
    """Return the header lines and footer lines of page `at` among its neighbours, and its number.

    A line counts where another page has the same words (numbers aside) at the same height, or where
    both have a page number there at one end. On a lone page it counts where it is only a page
    number, or ends in one far from the rest. Lines further out count too.
    """
    others = [page for index, page in enumerate(pages) if index != at]
    header = _counted(pages[at].top, [page.top for page in others])
    footer = _counted(pages[at].bottom, [page.bottom for page in others])
    number = next((n for line in [*footer, *header] if (n := _number(line))), "")
    return header, footer[::-1], number


def _counted(lines: Sequence[Line], others: Sequence[Sequence[Line]]) -> list[Line]:
    last = 0
    for at, line in enumerate(lines):
        repeated = any(_is_like(line, other) for page in others for other in page)
        if repeated or (at < 2 and _is_evident(line, lines, at)):
            last = at + 1
        elif at >= last + 1:
            break
    return list(lines[:last])


def _is_like(line: Line, other: Line) -> bool:
    if abs(line.middle - other.middle) > 4 or abs(line.size - other.size) > 1.5:
        return False
    one, two = line_text(line.words), line_text(other.words)
    if _DIGITS.sub("#", one) == _DIGITS.sub("#", two):
        return any(letter.isalpha() for letter in one) or bool(_ALONE.fullmatch(one))
    number, other_number = _number(line), _number(other)
    if number and other_number and number != other_number:
        return True
    shared = {word.text for word in line.words} & {word.text for word in other.words}
    longer = max(len(line.words), len(other.words))
    return longer > 3 and len(shared) >= 0.75 * longer


def _number(line: Line) -> str:
    """Return the page number that a line is, or that is apart at one of its ends."""
    text = line_text(line.words)
    if found := _ALONE.fullmatch(text):
        return found["number"]
    if len(line.words) < 2:
        return ""
    for word, next_ in ((line.words[0], line.words[1]), (line.words[-1], line.words[-2])):
        is_number = (word.text.isdecimal() and len(word.text) < 6) or _ROMAN.fullmatch(word.text)
        gap = max(next_.x0 - word.x1, word.x0 - next_.x1)
        if is_number and gap > 0.8 * line.size:
            return word.text
    return ""


def _is_evident(line: Line, lines: Sequence[Line], at: int) -> bool:
    """Return whether a line alone shows that it is furniture: a page number, or one with a running
    title.
    """
    text = line_text(line.words)
    if _ALONE.fullmatch(text) and (any(c.isdigit() for c in text) or len(text) < 6):
        inner = lines[at + 1] if at + 1 < len(lines) else None
        return inner is None or abs(inner.middle - line.middle) > 1.6 * line.size
    number = _number(line)
    if not number or not number.isdecimal() or at:
        return False
    inner = lines[at + 1] if at + 1 < len(lines) else None
    return inner is None or abs(inner.middle - line.middle) > 1.8 * line.size


# --- The page ---

#: A paragraph, or a table in its place.
Block: TypeAlias = str | PageTable


@dataclass(slots=True)
class PageParts:
    """The parts found on a page; `words` are those outside its ruled tables."""

    number: int
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    words: list[Word] = field(default_factory=list)
    grids: list[PageTable] = field(default_factory=list)
    edges: Edges = field(default_factory=lambda: Edges([], []))
    #: The page has a picture or a drawing.
    has_picture: bool = False
    #: The words were recognised in a picture.
    recognised: bool = False
    #: Text on its side in the margin: a stamp, the printer's marks.
    margin: str = ""


def parts_of(page: Any) -> PageParts:
    """Return the words, ruled tables and edges of a page of pdfplumber's.

    Where it is only a picture, its words are recognised if the extra `ocr` is installed.
    """
    number = page.page_number
    label = str(getattr(page.page_obj, "label", None) or "")
    found = objects_of(page)
    width, height = found.width, found.height
    turn = page_turn(found.letters)
    words = words_of(found.letters, turn, width, height)
    rules = rules_of(found, lines_of(word for word in words if not word.turn), turn)
    has_picture = found.pictures > 0 or any(shape.kind == "curve" for shape in found.shapes)
    if turn in (90, 270):
        width, height = height, width
    grids = ruled_tables(words, rules)
    held = {id(word) for grid in grids for word in grid.words}
    headings = [grid.heading_box for grid in grids if grid.heading_box]
    rest = [word for word in words
            if id(word) not in held and not any(box.holds(word) for box in headings)]  # fmt: skip
    aside = [w for w in rest if w.turn and not 0.07 * width < (w.x0 + w.x1) / 2 < 0.93 * width]
    margin = " ".join(line_text(line.words) for line in _turned_lines(aside))
    gone = {id(word) for word in aside}
    rest = [word for word in rest if id(word) not in gone]
    recognised = has_picture and not rest and not grids and can_recognise()
    if recognised:
        rest = recognised_words(page)
    edges = edges_of(rest, height)
    return PageParts(
        number, label, width, height, rest, grids, edges, has_picture, recognised, margin
    )


def blocks_of(
    parts: PageParts, left_out: Sequence[Line], lexicon: Lexicon, gutters: list[float]
) -> list[Block]:
    """Return the paragraphs and tables of a page in reading order, without header and footer.

    `lexicon` has the document's words, `gutters` the places of the gaps between its columns; those
    of this page are added to both.
    """
    gone = {id(word) for line in left_out for word in line.words}
    words = [w for w in parts.words if id(w) not in gone and not w.turn]
    turned = [w for w in parts.words if w.turn]
    captions: dict[int, Caption] = {}
    taken: set[int] = set()
    lines = lines_of(words)
    lexicon.learn(lines)
    for grid in parts.grids:
        lexicon.add(word.text for word in grid.words)
    for grid in sorted(parts.grids, key=lambda grid: grid.box.top):
        free = [
            Line(held) for line in lines if (held := [w for w in line.words if id(w) not in taken])
        ]
        caption = caption_of(grid, free, parts.grids)
        if caption is not None:
            captions[id(grid)] = caption
            taken |= {id(w) for line in caption.lines for w in line.words}
    words = [word for word in words if id(word) not in taken]
    made: list[Block] = []
    for flow in reading_order(words, parts.grids, parts.width, gutters):
        _add(made, _blocks(flow, captions, lexicon, search=True), lexicon)
    if turned:
        made += paragraphs(_turned_lines(turned), lexicon)
    return made


def _blocks(
    flow: Flow, captions: dict[int, Caption], lexicon: Lexicon, *, search: bool
) -> list[Block]:
    """Return a flow's blocks; with `search`, also tables made by gaps alone among its lines."""
    made: list[Block] = []
    run: list[Line] = []
    for part in [*flow, None]:
        if isinstance(part, Line):
            run.append(part)
            continue
        made += _searched(run, lexicon) if search else paragraphs(run, lexicon)
        run = []
        if part is not None:
            made += _with_caption(part, captions.get(id(part)), lexicon)
    return made


def _searched(lines: Sequence[Line], lexicon: Lexicon) -> list[Block]:
    """Return the paragraphs of lines, and the tables among them that gaps alone make."""
    listed = contents(lines)
    grids = [listed] if listed else []
    marks = [Box.around([line]) for line in lines if CAPTION.match(line_text(line.words))]
    free = _outside(lines, grids)
    grids += [g for part in _stretches(lines, free) for g in aligned_tables(part, marks)]
    if not grids:
        return list(paragraphs(lines, lexicon))
    captions: dict[int, Caption] = {}
    free = _outside(lines, grids)
    for grid in grids:
        caption = caption_of(grid, free, grids)
        if grid is listed:
            above = [line for line in free if line.bottom <= grid.box.top + 1]
            is_short = bool(above) and len(above[-1].words) < 6
            caption = Caption(above[-1:], above=True) if is_short else None
        if caption is not None:
            captions[id(grid)] = caption
            taken = {id(word) for line in caption.lines for word in line.words}
            free = [line for line in free if not taken & {id(word) for word in line.words}]
    flow: Flow = sorted(
        [*free, *grids], key=lambda p: p.box.top if isinstance(p, PageTable) else p.middle
    )
    return _blocks(flow, captions, lexicon, search=False)


def _outside(lines: Sequence[Line], grids: Sequence[PageTable]) -> list[Line]:
    held = {id(word) for grid in grids for word in grid.words}
    return [line for line in lines if not held & {id(word) for word in line.words}]


def _stretches(lines: Sequence[Line], free: Sequence[Line]) -> list[list[Line]]:
    """Return the free lines in runs that nothing separates."""
    allowed = {id(line) for line in free}
    made: list[list[Line]] = [[]]
    for line in lines:
        if id(line) in allowed:
            made[-1].append(line)
        elif made[-1]:
            made.append([])
    return [part for part in made if part]


def _with_caption(grid: PageTable, caption: Caption | None, lexicon: Lexicon) -> list[Block]:
    """Return a table with its caption before or after it; the caption's parts are set on
    the table.
    """
    if caption is None:
        grid.caption = grid.heading
        return [grid.caption, grid] if grid.caption else [grid]
    text = joined([line_text(line.words) for line in caption.lines], lexicon)
    grid.caption, grid.number, grid.continued = text, printed_number(text), is_continued(text)
    heading = [grid.heading] if grid.heading else []
    return [text, *heading, grid] if caption.above else [*heading, grid, text]


def _add(made: list[Block], blocks: Sequence[Block], lexicon: Lexicon) -> None:
    """Add a column's blocks; a sentence that continues from the column before stays one
    paragraph.
    """
    if made and blocks and isinstance(made[-1], str) and isinstance(blocks[0], str):
        before, after = made[-1], blocks[0]
        if (
            after[:1].islower()
            and len(before) > 60
            and "\n" not in before
            and not before.endswith((".", "!", "?", ":", ";"))
        ):
            made[-1] = joined([before, after], lexicon)
            blocks = blocks[1:]
    made += blocks


def _turned_lines(words: Sequence[Word]) -> list[Line]:
    """Return words on their side as lines, each in its own direction."""
    made = []
    for turn in sorted({word.turn for word in words}):
        held = [word for word in words if word.turn == turn]
        up = {90: lambda w: -w.bottom, 270: lambda w: w.top}.get(turn, lambda w: -w.x0)
        rows: list[list[Word]] = []
        last = 0.0
        for word in sorted(held, key=lambda w: (w.x0 + w.x1, w.top)):
            middle = (word.x0 + word.x1) / 2
            if not rows or turn == 180 or middle - last > 0.5 * word.size:
                rows.append([])
            rows[-1].append(word)
            last = middle
        for row in rows:
            row.sort(key=up)
            line = Line(list(row))
            line.words = row
            made.append(line)
    return made
