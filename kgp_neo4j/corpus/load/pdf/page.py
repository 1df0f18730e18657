"""One page: find its words, tables and edges, then put its blocks in reading order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import mode
from typing import Any, TypeAlias
from unicodedata import normalize

import regex

from kgp_neo4j.corpus.load.contents import CAPTION, number
from kgp_neo4j.corpus.load.pdf import drawing, letters
from kgp_neo4j.corpus.load.pdf.cells import PageTable, aligned_tables, ruled_tables, rules_of
from kgp_neo4j.corpus.load.pdf.letters import SLANTED, UNKNOWN, Line, Placed, Word, lines_of
from kgp_neo4j.environment.kinds import is_installed
from kgp_neo4j.text.words import STOP_WORDS, stem

#: Lines and tables of one column (or of the page's full width), from top to bottom.
Flow: TypeAlias = list[Line | PageTable]

# --- Reading order ---

_EVER = 1e6
#: Lines that one search forward reads at most, which limits the time of a page.
_LONGEST = 300


def _reading_order(
    words: Sequence[Word], tables: Sequence[PageTable], known: list[float], depth: int = 0
) -> list[Flow]:
    """Return the lines and tables of a page as flows in reading order: a recursive cut along gaps.

    `known` has the places of such gaps on the pages before, where two lines of running text beside
    them are enough, not three; those of this page are added.
    """
    parts: Flow = sorted([*lines_of(words), *tables], key=_top)
    flows: list[Flow] = [[]]
    at = 0
    while at < len(parts):
        end, gaps = _columns(parts, at, known) if depth < 5 else (at, [])
        if not gaps:
            flows[-1].append(parts[at])
            at += 1
            continue
        columns = list(pairwise([-_EVER, *gaps, _EVER]))
        for x0, x1 in reversed(columns) if letters.is_leftward(words) else columns:
            inside = [(part, _between(_pieces(part), x0, x1)) for part in parts[at:end]]
            column = [word for part, own in inside if isinstance(part, Line) for word in own]
            tables = [part for part, own in inside if own and isinstance(part, PageTable)]
            flows += _reading_order(column, tables, known, depth + 1)
        flows.append([])
        at = end
    return [flow for flow in flows if flow]


def _pieces(part: Line | PageTable) -> list[Any]:
    return [part.box] if isinstance(part, PageTable) else part.words


def _between(parts: Iterable[Any], x0: float, x1: float) -> list[Any]:
    """Return what has its middle between two places."""
    return [part for part in parts if x0 <= letters.center(part) < x1]


def _columns(parts: Flow, start: int, known: list[float]) -> tuple[int, list[float]]:
    """Return the end of the longest run from `start` that gaps cut into columns, and the gaps."""
    gaps = [(-_EVER, _EVER)]
    end, inner, bottom = start, [], None
    for at in range(start, min(len(parts), start + _LONGEST)):
        part = parts[at]
        pieces = _pieces(part)
        if bottom is not None and pieces[0].top - bottom > 60:
            break  # a picture across the page
        bottom = max(bottom or 0.0, *(piece.bottom for piece in pieces))
        gaps = _without(gaps, pieces)
        least = 6.0 if isinstance(part, PageTable) else max(0.7 * part.size, 5.0)
        wide = [(a, b) for a, b in gaps if a > -_EVER and b < _EVER and b - a >= least]
        if wide:
            end, inner = at + 1, wide
        elif inner:
            break
    is_known = all(any(a <= x <= b for x in known) for a, b in inner)
    places = [(a + b) / 2 for a, b in inner]
    while places:
        bad = _bad_column(parts[start:end], places, 2 if is_known else 3)
        if bad is None:
            known += [x for x in places if all(abs(x - other) >= 6 for other in known)]
            del known[:-12]
            return end, places
        places.pop(max(bad - 1, 0))
    return start, []


def _bad_column(parts: Flow, gaps: Sequence[float], least: int) -> int | None:
    """Return the first column that has no running text or table, or None."""
    full = 0
    for index, (x0, x1) in enumerate(pairwise([-_EVER, *gaps, _EVER])):
        inside = [(part, own) for part in parts if (own := _between(_pieces(part), x0, x1))]
        if any(isinstance(part, PageTable) for part, _ in inside):
            full += 1
            continue
        lines = [words for _, words in inside]
        text = "".join(word.text for words in lines for word in words)
        letters = sum(map(str.isalpha, text))
        if len(lines) < least or len(text) < 10 * len(lines) or letters < 0.5 * len(text):
            return index
        left, right = min(words[0].x0 for words in lines), max(words[-1].x1 for words in lines)
        filled = sum(words[-1].x1 > right - 0.2 * (right - left) for words in lines)
        full += filled >= 0.4 * len(lines) and sum(map(len, lines)) >= 3 * len(lines)
    return None if full * 2 >= len(gaps) + 1 else 0


def _without(gaps: list[tuple[float, float]], pieces: list[Placed]) -> list[tuple[float, float]]:
    """Return the gaps without the extent of some boxes; narrow remainders are dropped."""
    rest = []
    for a, b in gaps:
        for piece in pieces:
            if piece.x1 > a and piece.x0 < b:
                rest.append((a, piece.x0))
                a = piece.x1
        rest.append((a, b))
    return [(a, b) for a, b in rest if b - a >= 5]


def _top(part: Line | PageTable) -> float:
    return part.box.top + 4 if isinstance(part, PageTable) else part.middle


# --- Paragraphs ---

_BROKEN = re.compile(r"(?:^|[^\w])([^\W\d_]+)-$")
_HANGING = re.compile(r"[^\W_][-–—/]$")
_START = re.compile(r"^[^\W\d_]+")
_ITEM = re.compile(
    r"(?:[•●○▪■►▶‣◦–—*·-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\(\d+\)|\[\d{1,3}\])(?:\s|$)"
)
_CJK = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Block=Halfwidth and Fullwidth Forms}]")
_CONTINUED = re.compile(r"\bcont(?:inued|inuation|['’]d|d)?\b\.?|\bsuite\b|\bfortsetzung\b", re.I)
#: A heading begins with a capital, a number or a letter that has no case, and ends no sentence.
_HEADING = re.compile(r"(?=[^\W_])(?=.*[^\W\d_]{2})[^a-z].{2,118}[^.,;:]")


class Heading(str):
    """A paragraph that may be a heading by its form; its letters decide, beside other blocks'."""

    size: float
    bold: bool


#: First parts of words that keep their hyphen.
_KEEPING = frozenset(("self", "well", "half", "cross", "quasi", "vice"))


def _is_one_word(first: str, second: str, lexicon: set[str]) -> bool:
    """Return whether `first-` at a line's end and `second` are one word without the hyphen."""
    one, two = first.casefold(), second.casefold()
    if not second[0].islower() or len(first) < 2 or f"{one}-{two}" in lexicon:
        return False
    if f"{one}{two}" in lexicon:
        return True
    forms = {f"{stem(one)}*", f"{stem(two)}*"}
    is_kept = forms <= lexicon and one not in STOP_WORDS
    return one not in _KEEPING and (min(len(one), len(two)) <= 3 or not is_kept)


def _paragraphs(lines: Sequence[Line], lexicon: set[str]) -> list[str]:
    """Return the paragraphs of lines that follow one another in one column; code keeps lines."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    gaps = sorted(b.top - a.bottom for a, b in pairwise(lines) if b.top > a.top + 1)
    usual = gaps[len(gaps) // 4] if gaps else 0.0
    groups: list[list[Line]] = []
    for line in lines:
        if not groups or _begins(groups[-1], line, usual, left, right):
            groups.append([])
        groups[-1].append(line)
    return [text for group in groups if (text := _text(group, lexicon))]


def _joined(texts: Sequence[str], lexicon: set[str]) -> str:
    """Return lines of text as one, hyphens at line ends resolved."""
    whole = texts[0]
    for text in texts[1:]:
        broken, start = _BROKEN.search(whole), _START.match(text)
        if broken and start and _is_one_word(broken[1], start[0], lexicon):
            whole = whole[:-1]
        elif not (_HANGING.search(whole) and text[:1].isalnum()):
            # Chinese and Japanese have no spaces.
            whole += "" if _CJK.match(whole[-1]) and _CJK.match(text) else " "
        whole += text
    return whole


def _begins(group: Sequence[Line], line: Line, usual: float, left: float, right: float) -> bool:
    above = group[-1]
    size = max(line.size, above.size)
    gap = line.top - above.bottom
    is_long = len(line) > 3 and len(above) > 3
    is_other = is_long and abs(line.size - above.size) > 0.12 * size
    if is_other or gap > max(usual, 0) + 0.45 * size or gap > 1.2 * size:
        return True
    if is_long and line.bold != above.bold:
        first = line if line.bold else above
        # A bold line that ends early is a heading; bold words within a paragraph are not.
        return first.x1 < right - 2 * size or gap > usual + 0.2 * size
    if line.mono and above.mono:
        return False
    if _ITEM.match(line.text) or CAPTION.match(line.text):
        return True
    indent = line.x0 - above.x0
    if 0.7 * size < indent < 5 * size and not _ITEM.match(group[0].text):
        return len(group) > 1 or above.x1 > right - 3 * size
    ended = above.text.rstrip("\"'”’)").endswith((".", "!", "?", ":"))
    return ended and above.x1 < right - 0.25 * (right - left) and line.text[0].isupper()


def _text(group: Sequence[Line], lexicon: set[str]) -> str:
    is_mono = sum(line.mono for line in group) > 0.7 * len(group)
    if len(group) > 1 and is_mono:
        least, step = min(line.x0 for line in group), max(0.5 * group[0].size, 1.0)
        indents = (min(40, round((line.x0 - least) / step)) for line in group)
        return "\n".join(" " * n + line.text for n, line in zip(indents, group, strict=True))
    text = _joined([line.text for line in group], lexicon)
    if len(group) > 3 or is_mono or not _HEADING.fullmatch(text):
        return text
    heading = Heading(text)
    heading.size = max(line.size for line in group)
    heading.bold = all(line.bold for line in group)
    return heading


# --- Headers and footers ---

#: Shares of a page's height above and below which headers and footers are.
_TOP, _BOTTOM = 0.13, 0.88
_ROWS = 4
_DIGITS = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_NUMBER = re.compile(r"\d{1,5}|[ivxlc]{1,7}", re.IGNORECASE)
_ALONE = re.compile(
    r"(?:page|seite|p\.|página)?\s*+[-–—|[(]*+\s*+"
    r"(?P<number>\d{1,5}|[ivxlc]{1,7}|[A-Z]{1,2}-\d{1,4})"
    r"\s*+[-–—|\])]*+(?:\s*+(?:of|von|de|/)\s*+\d{1,5})?",
    re.IGNORECASE,
)


def furniture(page: PageParts, others: Sequence[PageParts]) -> tuple[list[Line], list[Line], str]:
    """Return the header lines and footer lines of a page with others beside it, and its number.

    A line counts where another page has the same words (numbers aside) at the same height, and
    where it is or ends in a page number. Lines further out count too.
    """
    header = _repeated(page.top, [line for other in others for line in other.top])
    footer = _repeated(page.bottom, [line for other in others for line in other.bottom])
    number = next(filter(None, map(_number, [*footer, *header])), "")
    return header, footer[::-1], number


def _repeated(lines: Sequence[Line], others: Sequence[Line]) -> list[Line]:
    last = 0
    for at, line in enumerate(lines):
        one, number = _DIGITS.sub("#", line.text), _number(line)
        is_alone = _ALONE.fullmatch(line.text) and (number.isdecimal() or len(line.text) < 6)
        same = (other for other in others if abs(line.middle - other.middle) <= 4)
        is_repeated = any(_DIGITS.sub("#", other.text) == one for other in same)
        is_end = number.isdecimal() and not at and len(line.segments()) < 3
        is_evident = (is_alone and at < 2) or (is_end and any(map(str.isalpha, one)))
        is_apart = at + 1 == len(lines) or abs(lines[at + 1].middle - line.middle) > 1.7 * line.size
        if (is_repeated and any(map(str.isalpha, one))) or (is_evident and is_apart):
            last = at + 1
    return list(lines[:last])


def _number(line: Line) -> str:
    """Return the page number that a line is, or that is apart at one of its ends."""
    if alone := _ALONE.fullmatch(line.text):
        return alone["number"]
    for word, next_ in (line.words[:2], line.words[:-3:-1]) if len(line.words) > 1 else ():
        gap = max(next_.x0 - word.x1, word.x0 - next_.x1)
        if gap > 0.8 * line.size and _NUMBER.fullmatch(word.text):
            return word.text
    return ""


# --- The page ---

#: A paragraph, or a table in its place.
Block: TypeAlias = str | PageTable


@dataclass(slots=True)
class PageParts:
    """The parts found on a page; `words` are those outside its ruled tables."""

    number: int
    objects: drawing.PageObjects
    label: str = ""
    words: list[Word] = field(default_factory=list)
    tables: list[PageTable] = field(default_factory=list)
    #: The words and tables turned by 90, 180 and 270 degrees, in their own direction.
    turned: list[tuple[list[Word], list[PageTable]]] = field(default_factory=list)
    #: The text on its side in the margins, or across the page: stamps, marks of the printer.
    margin: str = ""
    #: The lines at its top and bottom, the outermost first.
    top: list[Line] = field(default_factory=list)
    bottom: list[Line] = field(default_factory=list)
    #: The words were recognised in the picture.
    recognised: bool = False
    #: How many letters of it are not seen, and how many have no known meaning.
    hidden: int = 0
    unknown: int = 0
    characters: Counter[str] = field(default_factory=Counter)


def parts_of(page: Any) -> PageParts:
    """Return the words, tables and edges of a page of pdfminer's.

    Where it is only a picture, or most of its letters have no known meaning, its words are
    recognised if the extra `ocr` is installed.
    """
    objects = drawing.objects_of(page)
    drawn = letters.words_of(objects.letters)
    words = drawing.seen_words(page, drawn, objects) if drawn else []
    parts = PageParts(page.number, objects, page.label or "")
    count = sum(len(word.text) for word in words)
    parts.hidden = sum(len(word.text) for word in drawn) - count
    parts.unknown = sum(word.text.count(UNKNOWN) for word in words)
    words = [word for word in words if word.text.strip(UNKNOWN)]
    is_picture = objects.has_picture and not words
    if (is_picture or 2 * parts.unknown > count > 0) and is_installed("rapidocr"):
        words = drawing.recognised_words(page, objects.width)
        parts.recognised, parts.unknown = True, 0
    parts.characters = Counter(normalize("NFD", "".join(word.text for word in words)))
    tables = _ruled(objects, [word for word in words if word.turn != SLANTED])
    taken = {word for table in tables for word in table.words}
    low, high = 0.07 * objects.width, 0.93 * objects.width
    on_side = [word for word in words if word.turn % 180 and word not in taken]
    aside = [w for w in on_side if w.turn == SLANTED or not low < letters.center(w) < high]
    if len(aside) < len(words):
        parts.margin = " ".join(word.text for word in aside)
        taken |= {*aside}
    parts.words = [word for word in words if not word.turn and word not in taken]
    parts.tables = tables
    for turn in sorted({word.turn for word in words if word.turn and word not in taken}):
        side = [word for word in words if word.turn == turn and word not in taken]
        for word in side:
            word.move(turn)
            word.turn = 0
        drawn_boxes = objects.shapes, objects.slanted
        level, slanted = ([box.turned(turn) for box in boxes] for boxes in drawn_boxes)
        turned = drawing.PageObjects(objects.width, objects.height, [], level, slanted)
        tables = _ruled(turned, side)
        taken |= {word for table in tables for word in table.words}
        parts.turned.append(([word for word in side if word not in taken], tables))
    lines, top, bottom = lines_of(parts.words), _TOP * objects.height, _BOTTOM * objects.height
    parts.top = [line for line in lines if line.bottom < top][:_ROWS]
    parts.bottom = [line for line in reversed(lines) if line.top > bottom][:_ROWS]
    return parts


def _ruled(objects: drawing.PageObjects, words: Sequence[Word]) -> list[PageTable]:
    """Return the ruled tables of a page whose words are, for the most part, upright."""
    rules = rules_of(objects, lines_of(word for word in words if not word.turn))
    tables = ruled_tables(words, rules)
    return [t for t in tables if 2 * sum(not word.turn for word in t.words) >= len(t.words)]


def blocks_of(
    parts: PageParts, left_out: Sequence[Line], lexicon: set[str], gutters: list[float]
) -> list[Block]:
    """Return the paragraphs and tables of a page in reading order, without header and footer.

    Turned text comes after the upright one, footnotes at the end. `lexicon` and `gutters` of the
    document get the words of the page, and the gaps between its columns.
    """
    taken = {word for line in left_out for word in line.words}
    upright = [word for word in parts.words if word not in taken]
    blocks, notes = list[Block](), list[Block]()
    for words, tables in ((upright, parts.tables), *parts.turned):
        lines = lines_of(words)
        # Words at the ends of lines may be broken.
        spelt = [word for line in lines for word in line.words[1:-1]]
        spelt += [word for table in tables for word in table.words]
        lexicon.update(word.text.strip("()[]{}.,;:!?\"'“”‘’").casefold() for word in spelt)
        rest = _without_headings(lines, tables)
        usual = mode([size for line in rest for size in [line.size] * len(line)] or [0.0])
        side: list[Block] = []
        own = gutters if words is upright else []
        for flow in _reading_order([word for line in rest for word in line.words], tables, own):
            for note in _without_notes(flow, parts.objects.height, usual):
                notes += _paragraphs(note, lexicon)
            _add(side, _blocks(flow, lexicon), lexicon)
        blocks += _with_captions(side)
    return blocks + notes


_NOTE = re.compile(r"(?:\d{1,3}|[*†‡§¶¹²³⁴-⁹]{1,3}|[a-z])[.)]?(?:\s|(?<![a-z])[^\W\d_])")


def _without_notes(flow: Flow, height: float, usual: float) -> list[list[Line]]:
    """Take footnotes, smaller lines with a mark, off the end of a column; return their lines."""
    notes: list[list[Line]] = []
    end, below = len(flow), list[Line]()
    for at in range(len(flow) - 1, -1, -1):
        line = flow[at]
        if isinstance(line, PageTable) or line.size > 0.93 * usual or line.top < 0.4 * height:
            break
        below.insert(0, line)
        if _NOTE.match(line.text):
            notes.insert(0, below)
            end, below = at, []
    del flow[end:]
    return notes


def _blocks(flow: Flow, lexicon: set[str]) -> list[Block]:
    """Return a flow's paragraphs and tables, with tables made by gaps alone among its lines."""
    blocks: list[Block] = []
    for is_text, run in groupby(flow, key=lambda part: isinstance(part, Line)):
        parts: list[Any] = list(run)
        tables = aligned_tables(parts) if is_text else []
        if tables:
            taken = {word for table in tables for word in table.words}
            free = [line for line in parts if taken.isdisjoint(line.words)]
            blocks += _blocks(sorted([*free, *tables], key=_top), lexicon)
        elif is_text:
            blocks += _paragraphs(parts, lexicon)
        else:
            blocks += parts
    return blocks


def _without_headings(lines: Sequence[Line], tables: Sequence[PageTable]) -> list[Line]:
    """Return the lines without those that become tables' headings: short, right above, in bold."""
    rest = []
    for line in lines:
        middle, text = letters.center(line), line.text
        is_form = _HEADING.fullmatch(text) and not CAPTION.match(text)
        is_heading = is_form and (line.bold or text.isupper() or _CONTINUED.search(text))
        for table in tables if is_heading else []:
            is_near = -2 < table.box.top - line.bottom < 1.3 * line.size
            if is_near and table.box.x0 < middle < table.box.x1 and not table.heading:
                table.heading = text
                break
        else:
            rest.append(line)
    return rest


def _with_captions(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks with the tables' headings; set the captions: paragraphs beside, or headings."""
    named: list[Block] = []
    taken = -1
    for at, table in enumerate(blocks):
        if isinstance(table, PageTable):
            table.caption = table.heading
            for beside in (at - 1, at + 1):
                text = blocks[beside] if taken < beside < len(blocks) else None
                if isinstance(text, str) and CAPTION.match(text):
                    table.caption, table.number, taken = str(text), number(text), beside
                    break
            table.continued = bool(_CONTINUED.search(f"{table.caption[:40]} {table.caption[-30:]}"))
            named += [table.heading] if table.heading else []
        named.append(str(table) if taken == at else table)
    return named


def _add(blocks: list[Block], column: Sequence[Block], lexicon: set[str]) -> None:
    """Add a column's blocks; a sentence that goes on from the column before stays whole."""
    if blocks and column and isinstance(blocks[-1], str) and isinstance(column[0], str):
        before, after = blocks[-1], column[0]
        is_open = len(before) > 60 and not before.endswith((".", "!", "?", ":", ";"))
        if is_open and after[:1].islower() and "\n" not in before:
            blocks[-1] = _joined([before, after], lexicon)
            column = column[1:]
    blocks += column
