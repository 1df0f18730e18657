"""White gaps that go through lines of text and part columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from kgp_neo4j.load.pdf.boxes import Box
from kgp_neo4j.load.pdf.letters import Line, segments

__all__ = ["column_gaps", "gutters"]


def gutters(lines: Sequence[Line], least: float = 0.6) -> list[float]:
    """Return the places of the white gaps that go through nearly all of some lines of text.

    One line in seven may cross a gap (a spanning header, a note). Text must stand on both sides in
    two lines at least. `least` is the width of a gap in sizes of the letters.
    """
    if len(lines) < 2:
        return []
    size = sorted(line.size for line in lines)[len(lines) // 2]
    allowed = 0 if len(lines) < 4 else max(1, len(lines) // 7)
    pieces = [segments(line, least * 0.9) for line in lines]
    ends = sorted({x for line in pieces for p in line for x in (p.x0, p.x1)})
    cover = [0] * len(ends)
    place = {x: at for at, x in enumerate(ends)}
    for line in pieces:
        for piece in line:
            cover[place[piece.x0]] += 1
            cover[place[piece.x1]] -= 1
    made: list[float] = []
    depth, open_at, low = 0, None, 0.0
    width = least * size if len(lines) >= 4 else max(least, 1.0) * size
    for at, x in enumerate(ends):
        depth += cover[at]
        if depth <= allowed and open_at is None and at:
            open_at = x
        elif depth > allowed and open_at is not None:
            low = open_at
            if x - low >= width:
                made.append((low + x) / 2)
            open_at = None
    return [x for x in made if _parts(x, pieces)]


def column_gaps(lines: Sequence[Line], hard: Sequence[float]) -> list[float]:
    """Return the gaps that part ruled columns further; hardly ever where all columns are ruled."""
    made: list[float] = []
    is_ruled = len(hard) > 4
    for x0, x1 in itertools.pairwise(hard):
        held = []
        for line in lines:
            words = [w for w in line.words if x0 <= (w.x0 + w.x1) / 2 < x1]
            if words:
                held.append(Line(words))
        if is_ruled and (len(held) < 5 or x1 - x0 < 40):
            continue
        made += [x for x in gutters(held, 1.5 if is_ruled else 0.6) if _is_table_gap(x, held)]
    return made


def _is_table_gap(x: float, lines: Sequence[Line]) -> bool:
    """Say whether a gap parts columns, not bullets or numbers of a list from their items."""
    left = [[w for w in line.words if w.x1 <= x] for line in lines]
    marks = [words[-1].text for words in left if words]
    lists = sum(bool(re.fullmatch(r"[^\w\s]|\(?\w{1,2}[.)]|o", mark)) for mark in marks)
    return lists < 0.6 * max(len(marks), 1)


def _parts(x: float, pieces: Sequence[Sequence[Box]]) -> bool:
    left = sum(any(piece.x1 <= x for piece in line) for line in pieces)
    right = sum(any(piece.x0 >= x for piece in line) for line in pieces)
    return min(left, right) >= min(2, len(pieces))
