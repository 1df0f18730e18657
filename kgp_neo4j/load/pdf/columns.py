"""The reading order of a page: columns one after the other, tables where they stand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

from kgp_neo4j.load.pdf.boxes import Box
from kgp_neo4j.load.pdf.grids import Grid
from kgp_neo4j.load.pdf.letters import Line, Word, lines_of

__all__ = ["Flow", "reading_order"]

#: Lines and tables of one column (or of the page's full width), from top to bottom.
Flow: TypeAlias = list[Line | Grid]

_DEPTH = 5
_EVER = 1e6
_KNOWN = 12
#: Lines that one look ahead takes, so that no page takes for ever.
_LONGEST = 300


def reading_order(
    words: Sequence[Word], grids: Sequence[Grid], width: float, known: list[float]
) -> list[Flow]:
    """Return the lines and tables of a page as flows in the order in which people read them.

    A white gap that goes through at least three lines, with running text on both sides, parts
    columns; a line or table across it ends them, and what follows is looked at anew (a recursive
    cut of the page along its gaps). `known` has the places of such gaps on the pages before, where
    two lines are enough; those of this page are added.
    """
    return _cut(words, list(grids), width, known, 0)


def _cut(
    words: Sequence[Word], grids: list[Grid], width: float, known: list[float], depth: int
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
        tables = [part for part in parts[at:end] if isinstance(part, Grid)]
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
    """Return the end of the longest run from `start` that gaps part into columns, and the gaps."""
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
    """Return the first column that does not hold running text or a table, or None."""
    bounds = [-_EVER, *gaps, _EVER]
    full = 0
    for index, (x0, x1) in enumerate(itertools.pairwise(bounds)):
        lines = []
        has_table = False
        for part in parts:
            if isinstance(part, Grid):
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


def _pieces(part: Line | Grid) -> list[Box]:
    if isinstance(part, Grid):
        return [part.box]
    return [Box(w.x0, w.top, w.x1, w.bottom) for w in part.words]


def _without(gaps: list[tuple[float, float]], pieces: Sequence[Box]) -> list[tuple[float, float]]:
    """Return the gaps with the extent of some boxes taken out, narrow rests dropped."""
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


def _least(part: Line | Grid) -> float:
    return 6.0 if isinstance(part, Grid) else max(0.7 * part.size, 5.0)


def _top(part: Line | Grid) -> float:
    return part.box.top + 4 if isinstance(part, Grid) else part.middle
