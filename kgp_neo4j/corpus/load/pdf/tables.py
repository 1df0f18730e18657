"""Find the tables of a page by ruled lines, all around or only above and below, or by gaps."""

import re
from collections.abc import Iterator, Sequence

from kgp_neo4j.corpus.load.contents import CAPTION
from kgp_neo4j.corpus.load.pdf import cells
from kgp_neo4j.corpus.load.pdf.cells import NEAR, PageTable, Rule, gutters, has_value, table_in
from kgp_neo4j.corpus.load.pdf.letters import Box, Line, Word, center, lines_of

_DOTS = re.compile(r"(?:\s?[.…·]){4,}")
_PAGE = re.compile(r"(?:[.…·]\s*)*(\d{1,4}|[ivxlc]{1,7}|[A-Z]-\d{1,3})")


def aligned_tables(lines: Sequence[Line]) -> list[PageTable]:
    """Return the tables among the lines of one column of text that have no ruled lines.

    They have a caption beside them or numbers in a column. Tables of contents are found too.
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
        around = Box(box.x0, box.top - 30, box.x1, box.bottom + 30)
        words = [word for line in lines[start:end] for word in line.words]
        table = table_in(Box(box.x0 - 1, box.top - 1, box.x1 + 1, box.bottom + 1), words)
        if table is not None and not _is_code(words):
            columns = list(zip(*table.rows, strict=True))[1:]
            values = max(sum(map(has_value, column)) for column in columns)
            if 2 * values >= len(table.rows) or any(map(around.holds, captions)):
                tables.append(table)
        start = end
    return tables


def _end_of_columns(lines: Sequence[Line], start: int) -> int:
    """Return the end of the lines from `start` on that may be one table's rows."""
    end, single = start, 0 if len(lines[start].segments(0.9)) > 1 else 2
    left = lines[start].x0
    while end < len(lines) and single < 2:
        line, left = lines[end], min(left, lines[end].x0)
        # A lone text close below the line above, right of the first column, goes on in its cell.
        is_cell = line.x0 > left + line.size and line.top - lines[end - 1].bottom < 0.5 * line.size
        single = single + 1 if len(line.segments(0.9)) < 2 and not is_cell else 0
        end += 1
    return end - single


def _contents(lines: Sequence[Line]) -> tuple[int, int, PageTable] | None:
    """Return the first and the end of the lines of a table of contents, and the table, if any."""
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


#: The beginning of a caption between two tables or figures.
_MARK = re.compile(r"(?:table|figure|fig\.)\s+\w", re.IGNORECASE)


def ruled_tables(words: Sequence[Word], rules: cells.Rules) -> list[PageTable]:
    """Return the tables of a page that have ruled lines, in no order.

    Lines of both directions that meet make the cells. Where there are only level lines of one
    width (as printed in books), the gaps in the text between make the columns.
    """
    levels, uprights, drawings = rules
    words = [w for w in words if not any(drawing.holds(w) for drawing in drawings)]
    tables: list[PageTable] = []
    used: set[Rule] = set()
    for across, down in cells.components(levels, uprights):
        upright = (Box(rule.at, rule.start, rule.at, rule.end) for rule in down)
        box = Box.around([*(rule.across for rule in across), *upright])
        table = table_in(box, words, across, down) if down else None
        # A form or a frame has long texts.
        texts = set(table.texts) if table else set()
        if table is None or sum(len(text.split()) for text in texts) > 30 * len(texts):
            continue
        if table.is_ruled or _is_open_table(table):
            tables.append(table)
            used.update(r for r in levels if r in across or box.holds(r.across))
    rest = [rule for rule in levels if rule not in used]
    for stack in _stacks(rest):
        tables += _tables_of_stack(words, stack, rest)
    by_box = {table.box: table for table in reversed(tables)}
    return [by_box[box] for box in cells.outermost(by_box)]


def _stacks(across: Sequence[Rule]) -> list[list[Rule]]:
    """Return the level lines of one width, one above the other."""
    stacks: list[list[Rule]] = []
    for rule in sorted(across):
        for stack in stacks:
            if abs(stack[-1].start - rule.start) < 4 and abs(stack[-1].end - rule.end) < 4:
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
            top = _top_of_header(words, stack[start : end + 1])
            box = Box(stack[0].start, top, stack[0].end, stack[end].at)
            inner = [r for r in across if box.top - 1 <= r.at <= box.bottom + 1]
            table = table_in(box, words, inner)
            if table is not None and _is_open_table(table) and not _is_part(table, words):
                yield table
        start = end + 1


def _top_of_header(words: Sequence[Word], stack: Sequence[Rule]) -> float:
    """Return the top of the line of column names right above the first level line, else its top."""
    top, box = stack[0].at, Box(stack[0].start, stack[0].at, stack[0].end, stack[-1].at)
    above = Box(box.x0 - NEAR, top - 30, box.x1 + NEAR, top)
    lines, inside = (lines_of(w for w in words if b.holds(w) and not w.turn) for b in (above, box))
    if not lines or not inside or top - lines[-1].bottom > lines[-1].size:
        return top
    columns, pieces = gutters(inside), lines[-1].segments(0.9)
    places = {sum(x < center(p) for x in columns) for p in pieces}
    is_header = 1 < len(pieces) == len(places) and len(places) >= len(columns)
    return lines[-1].top - 1 if is_header else top


def _is_part(table: PageTable, words: Sequence[Word]) -> bool:
    """Return whether a table of numbers has its rows' names on its left: its lines are of sums."""
    if not all(map(has_value, filter(None, (row[0] for row in table.rows)))):
        return False
    rows = lines_of(word for word in table.words if not word.turn)
    bottoms = [word.bottom for word in words if word.x1 < table.box.x0 + NEAR]
    return all(any(abs(bottom - row.bottom) < 1 for bottom in bottoms) for row in rows[1:])


def _is_tabular(words: Sequence[Word], above: Rule, below: Rule) -> bool:
    """Return whether the text between two lines may be rows of a table."""
    box = Box(above.start, above.at, above.end, below.at)
    lines = lines_of(w for w in words if box.holds(w))
    if not lines:
        return box.height < 4 * NEAR
    if any(_MARK.match(line.text) and len(line.segments(0.9)) < 3 for line in lines):
        return False
    return len(lines) <= 2 or bool(gutters(lines))


def _is_open_table(table: PageTable) -> bool:
    """Return whether rows and columns made by gaps are a table's, not code's or running text's."""
    several = sum(sum(map(bool, row)) > 1 for row in table.rows)
    is_short = sum(len(text.split()) for text in table.texts) <= 9 * len(table.texts)
    return several >= 0.5 * len(table.rows) and is_short and not _is_code(table.words)
