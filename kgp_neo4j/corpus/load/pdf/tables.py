"""Find the tables of a page by ruled lines, all around or only above and below, or by gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kgp_neo4j.corpus.load.grid import CAPTION
from kgp_neo4j.corpus.load.pdf.cells import PageTable, has_value, table_in
from kgp_neo4j.corpus.load.pdf.letters import Box, Line, Word, lines_of, segments
from kgp_neo4j.corpus.load.pdf.rules import NEAR, Rule, Rules, components, gutters

__all__ = ["aligned_tables", "caption_of", "is_continued", "ruled_tables"]

# --- Tables without ruled lines ---

_DOTS = re.compile(r"(?:\s?[.…·]){4,}")
_PAGE = re.compile(r"(?:[.…·]\s*)*(\d{1,4}|[ivxlc]{1,7}|[A-Z]-\d{1,3})")


def aligned_tables(lines: Sequence[Line]) -> list[PageTable]:
    """Return the tables among the lines of one column of text that have no ruled lines.

    At least three lines in sequence must fall into the same columns, and have a caption beside
    them or numbers in one of the columns. Lists, code and prose are excluded. So are tables of
    contents found.
    """
    if listed := _contents(lines):
        first, last, contents = listed
        return [*aligned_tables(lines[:first]), contents, *aligned_tables(lines[last:])]
    captions = [line for line in lines if CAPTION.match(line.text)]
    tables: list[PageTable] = []
    start = 0
    while start < len(lines):
        end = _end_of_columns(lines, start)
        if end - start < 3:
            start += 1
            continue
        box = Box.around(lines[start:end])
        has_caption = any(
            min(abs(c.bottom - box.top), abs(box.bottom - c.top)) < 30
            and c.x0 < box.x1
            and c.x1 > box.x0
            for c in captions
        )
        words = [word for line in lines[start:end] for word in line.words]
        table = table_in(Box(box.x0 - 1, box.top - 1, box.x1 + 1, box.bottom + 1), words)
        if table is not None and _is_aligned(table, has_caption=has_caption):
            tables.append(table)
        start = end
    return tables


def _end_of_columns(lines: Sequence[Line], start: int) -> int:
    """Return the end of the lines from `start` on that may be one table's rows."""
    if len(segments(lines[start], 0.9)) < 2:
        return start + 1
    end, single = start + 1, 0
    for above, line in pairwise(lines[start:]):
        if line.top - above.bottom > 2.2 * max(line.size, above.size):
            break
        single = single + 1 if len(segments(line, 0.9)) < 2 else 0
        if single > 1:
            return end - 1
        end += 1
    return end - single


def _is_aligned(table: PageTable, *, has_caption: bool) -> bool:
    rows, columns = len(table.rows), len(table.rows[0])
    texts = table.texts
    if len(texts) < 0.6 * rows * columns or _is_code(table.words):
        return False
    values = max(sum(map(has_value, column)) for column in list(zip(*table.rows, strict=True))[1:])
    return has_caption or (values >= 0.5 * rows and rows >= 3)


def _contents(lines: Sequence[Line]) -> tuple[int, int, PageTable] | None:
    """Return the table of contents whose entries have leader dots to page numbers, with the first
    and the end of its lines, if there is one.

    At least five such lines must follow one another; other lines between them are parts of entries.
    """
    rows: list[tuple[str, ...]] = []
    first = last = 0
    for at, line in enumerate(lines):
        entry, *rest = _DOTS.split(" ".join(word.text for word in line.words), maxsplit=1)
        page = _PAGE.fullmatch(rest[0].strip()) if rest else None
        if page is not None:
            first = first if rows else at
            before = [part.text for part in lines[last:at]] if rows else []
            rows.append((" ".join([*before, entry.strip(" .")]), page[1]))
            last = at + 1
        elif rows and at - last > 1:
            break
    if len(rows) < 5:
        return None
    heading = lines[first - 1].text if first and len(lines[first - 1].words) < 6 else ""
    first -= bool(heading)
    box = Box.around(lines[first:last])
    words = [word for line in lines[first:last] for word in line.words]
    edges = [(box.x0, box.x1 - 20), (box.x1 - 20, box.x1)]
    return first, last, PageTable(box, rows, edges, words=words, heading=heading)


def _is_code(words: Sequence[Word]) -> bool:
    lines = lines_of(word for word in words if not word.turn)
    return sum(line.mono for line in lines) > 0.6 * len(lines)


# --- Ruled tables ---

#: The beginning of a caption between two tables or figures.
_MARK = re.compile(r"(?:table|figure|fig\.)\s+\w", re.IGNORECASE)


def ruled_tables(words: Sequence[Word], rules: Rules) -> list[PageTable]:
    """Return the tables of a page that have ruled lines, in no order.

    Lines of both directions that meet make the cells. Where there are only level lines of one
    width, one above the other (as printed in books), the gaps in the text between make the columns.
    """
    words = [w for w in words if not any(drawing.holds(w) for drawing in rules.drawings)]
    tables: list[PageTable] = []
    used: set[Rule] = set()
    for across, down in components(rules):
        box = Box.around([*(r.across for r in across), *(r.down for r in down)])
        table = table_in(box, words, across, down) if down else None
        if table is not None and _is_ruled_table(table):
            tables.append(table)
            used.update(r for r in rules.across if r in across or r.across.within(box, NEAR))
    rest = [rule for rule in rules.across if rule not in used]
    for stack in _stacks(rest):
        tables += _tables_of_stack(words, stack, rest)
    outermost: list[PageTable] = []
    for table in sorted(tables, key=lambda table: -table.box.area):
        if not any(other.box.holds(table.box) for other in outermost):
            outermost.append(table)
    return outermost


def _stacks(across: Sequence[Rule]) -> list[list[Rule]]:
    """Return the level lines of one width, one above the other."""
    stacks: list[list[Rule]] = []
    for rule in sorted(across):
        for stack in stacks:
            last = stack[-1]
            if abs(last.start - rule.start) < 4 and abs(last.end - rule.end) < 4:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    return stacks


def _tables_of_stack(
    words: Sequence[Word], stack: list[Rule], across: Sequence[Rule]
) -> Iterator[PageTable]:
    """Yield the tables of one stack: the longest runs of its lines with columns between them."""
    start = 0
    while start < len(stack) - 1:
        end = start
        while end + 1 < len(stack) and _is_tabular(words, stack[end], stack[end + 1]):
            end += 1
        if end > start:
            box = Box(stack[0].start, stack[start].at, stack[0].end, stack[end].at)
            inner = [r for r in across if box.top - 1 <= r.at <= box.bottom + 1]
            table = table_in(box, words, inner)
            if table is not None and _is_open_table(table):
                yield table
        start = end + 1


def _is_tabular(words: Sequence[Word], above: Rule, below: Rule) -> bool:
    """Return whether the text between two lines may be rows of a table."""
    box = Box(above.start, above.at, above.end, below.at)
    lines = lines_of(w for w in words if box.holds(w))
    if not lines:
        return box.height < 4 * NEAR
    if any(_MARK.match(line.text) and len(segments(line, 0.9)) < 3 for line in lines):
        return False
    return len(lines) <= 2 or bool(gutters(lines))


def _is_ruled_table(table: PageTable) -> bool:
    """Return whether ruled lines enclose a table, not a form, a diagram or a page's frame."""
    distinct = set(table.texts)
    if sum(len(text.split()) for text in distinct) > 30 * len(distinct):
        return False
    return table.is_ruled or _is_open_table(table)


def _is_open_table(table: PageTable) -> bool:
    """Return whether rows and columns made by gaps are a table's, not code's or running text's."""
    texts = table.texts
    several = sum(sum(map(bool, row)) > 1 for row in table.rows)
    return (
        several >= 0.5 * len(table.rows)
        and sum(len(text.split()) for text in texts) <= 9 * len(texts)
        and not _is_code(table.words)
    )


# --- Captions ---

_CONTINUED = re.compile(
    r"\bcont(?:inued|inuation|['’]d|d)?\b\.?|\bsuite\b|\bfortsetzung\b", re.IGNORECASE
)


def is_continued(text: str) -> bool:
    """Return whether a caption is that of a table begun before."""
    return bool(_CONTINUED.search(text[:40]) or _CONTINUED.search(text[-30:]))


def caption_of(table: PageTable, lines: Sequence[Line]) -> tuple[list[Line], bool]:
    """Return the lines of a table's caption among those around it, and whether they are above it.

    A line with a number ("Table 3") counts up to ten lines away from the table as long as the lines
    between belong to it. Without one a short heading right above counts: a bold one, one in
    capitals, or a centred one.
    """
    box = table.box
    captions: list[tuple[float, list[Line], bool]] = []
    above = _near(box, [line for line in lines if line.middle < box.top + 2], up=True)
    for at, line in enumerate(above):
        if CAPTION.match(line.text):
            captions.append((box.top - above[0].bottom, above[at::-1], True))
            break
    below = _near(box, [line for line in lines if line.middle > box.bottom - 2], up=False)
    if below and CAPTION.match(below[0].text):
        end = 1
        for line, next_ in pairwise(below):
            is_same = abs(next_.size - below[0].size) < 0.3
            if not is_same or next_.top - line.bottom > 0.4 * below[0].size:
                break
            end += 1
        captions.append((below[0].top - box.bottom, below[:end], False))
    if captions:
        return min(captions, key=lambda caption: caption[0])[1:]
    return (above[:1] if above and not table.heading and _is_heading(above[0], box) else []), True


def _is_heading(line: Line, box: Box) -> bool:
    text = line.text
    letters = [letter for letter in text if letter.isalpha()]
    if len(letters) < 3 or len(text.split()) > 12 or text.endswith((".", ":", ",", ";")):
        return False
    if box.top - line.bottom > 1.3 * line.size:
        return False
    is_upper = sum(letter.isupper() for letter in letters) > 0.8 * len(letters)
    off = abs((line.x0 + line.x1) / 2 - (box.x0 + box.x1) / 2)
    is_centred = off < 0.03 * box.width and line.x1 - line.x0 < 0.7 * box.width
    return line.bold or is_upper or is_centred or is_continued(text)


def _near(box: Box, lines: Sequence[Line], *, up: bool) -> list[Line]:
    """Return up to ten lines next to a table, nearest first, each close to the one before."""
    near: list[Line] = []
    edge = box.top if up else box.bottom
    for line in sorted(lines, key=lambda line: -line.bottom if up else line.top):
        part = _over(line, box)
        if part is None:
            continue
        gap = edge - part.bottom if up else part.top - edge
        if gap > (0.8 if near else 2.2) * part.size or len(near) == 10:
            break
        near.append(part)
        edge = part.top if up else part.bottom
    return near


def _over(line: Line, box: Box) -> Line | None:
    """Return the part of a line that is over a table, cut at wide gaps between columns."""
    parts: list[list[Word]] = [[]]
    for word in line.words:
        if parts[-1] and word.x0 - parts[-1][-1].x1 > 1.4 * line.size:
            parts.append([])
        parts[-1].append(word)
    words = [w for part in parts for w in part if part[0].x0 < box.x1 and part[-1].x1 > box.x0]
    return Line(words) if words else None
