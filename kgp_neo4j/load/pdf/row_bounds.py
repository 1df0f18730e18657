"""Where the rows of a table end that have no ruled line between them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from kgp_neo4j.load.pdf.letters import Line, segments
from kgp_neo4j.values import typed

__all__ = ["row_bounds"]


def row_bounds(
    lines: Sequence[Line], xs: Sequence[float], ys: Sequence[float], *, is_ruled: bool
) -> list[float]:
    """Return the heights that part rows between the ruled lines at `ys`.

    In a table that is ruled all over, a stretch between two lines is one row, unless every column
    has a text on every line of it (as where each fifth row is ruled off). In others each line of
    text is a row, but for those that go on with the row above.
    """
    made: list[float] = []
    for at, (top, bottom) in enumerate(itertools.pairwise(ys)):
        held = [line for line in lines if top <= line.middle < bottom]
        if len(held) < 2:
            continue
        cells = [_cells(line, xs) for line in held]
        if is_ruled:
            is_each = _is_row_each(cells, is_first=at == 0)
            starts = [
                n for n in range(1, len(held)) if is_each or _is_over(held[n - 1], held[n], xs)
            ]
        elif at == 0 and len(ys) > 2 and len(held) <= 4 and not _is_mostly_values(cells):
            starts = [] if _is_one_header(held, xs) else list(range(1, len(held)))
        else:
            apart = _by_space(held, cells)
            each = [n for n in range(1, len(held)) if not _goes_on(n, held, cells)]
            starts = each if apart is None else apart
        made += [(held[n - 1].bottom + held[n].top) / 2 for n in starts]
    return made


def _cells(line: Line, xs: Sequence[float]) -> dict[int, str]:
    """Return the text of a line in each column."""
    made: dict[int, list[str]] = {}
    for word in line.words:
        middle = (word.x0 + word.x1) / 2
        column = sum(middle >= x for x in xs[1:-1])
        made.setdefault(column, []).append(word.text)
    return {column: " ".join(texts) for column, texts in made.items()}


def _is_row_each(cells: Sequence[dict[int, str]], *, is_first: bool) -> bool:
    columns = set().union(*cells)
    if len(columns) < 3 or 0 not in columns or any(0 not in line for line in cells):
        return False
    if is_first and len(cells) < 4:
        return False
    full = sum(all(column in line for line in cells) for column in columns)
    texts = [text for line in cells for column, text in line.items() if column]
    values = sum(typed(text).type != "text" for text in texts)
    return full >= 0.8 * len(columns) and (len(cells) >= 4 or values >= 0.4 * len(texts))


def _is_over(above: Line, below: Line, xs: Sequence[float]) -> bool:
    """Say whether a line names groups of columns and the one below it the columns themselves."""
    crossed = [sum(p.x0 < x - 1 and p.x1 > x + 1 for x in xs[1:-1] for p in segments(line, 0.3))
               for line in (above, below)]  # fmt: skip
    return crossed[0] > 0 and not crossed[1] and len(segments(below)) > 2 * len(segments(above))


def _is_mostly_values(cells: Sequence[dict[int, str]]) -> bool:
    values = [typed(text).type != "text" for line in cells for text in line.values()]
    return sum(values) >= 0.5 * len(values)


def _is_one_header(lines: Sequence[Line], xs: Sequence[float]) -> bool:
    """Say whether the lines above the first ruled line are one row of names that run over lines."""
    for line in lines:
        for x in xs[1:-1]:
            if any(word.x0 < x - 1 and word.x1 > x + 1 for word in line.words):
                return False
            around = [w for w in line.words if w.x1 <= x][-1:] + [
                w for w in line.words if w.x0 >= x
            ][:1]
            if len(around) == 2 and around[1].x0 - around[0].x1 < 0.5 * line.size:
                return False
    return True


def _by_space(lines: Sequence[Line], cells: Sequence[dict[int, str]]) -> list[int] | None:
    """Return the lines that begin a row where rows stand clearly further apart than their lines.

    None where they do not, or where what stands together is no row: several lines with text in
    most columns.
    """
    gaps = [b.top - a.bottom for a, b in itertools.pairwise(lines)]
    size = lines[0].size
    columns = len(set().union(*cells))
    for low, high in reversed(list(itertools.pairwise(sorted(gaps)))):
        if high - low < 0.25 * size or low > 0.6 * size:
            continue
        limit = (low + high) / 2
        starts = [at for at, gap in enumerate(gaps, 1) if gap > limit]
        groups = itertools.pairwise([0, *starts, len(lines)])
        if all(end - start == 1 or _is_row(cells[start:end], columns) for start, end in groups):
            return starts
    return None


def _is_row(cells: Sequence[dict[int, str]], columns: int) -> bool:
    """Say whether lines are one row: only one of them has text in most columns."""
    return sum(len(line) >= max(2, 0.6 * columns) for line in cells) == 1


def _goes_on(at: int, lines: Sequence[Line], cells: Sequence[dict[int, str]]) -> bool:
    """Say whether a line goes on with the row of the line above it."""
    line, above = lines[at], lines[at - 1]
    here, before = cells[at], cells[at - 1]
    tight = line.top - above.bottom < 0.55 * line.size
    first = min(here)
    text = here[first]
    if first == 0:
        if len(here) > 1 or not tight:
            return False
        lower = text[0].islower() or text[0] in "(&/"
        return 0 in before and (lower or before[0].endswith(("-", ",", "&", " of", " and")))
    values = sum(typed(text).type != "text" for text in here.values())
    if len(here) > 1 and 2 * values >= len(here):
        return False
    return tight
