"""One page: its words, tables and edges as they are found, then its blocks in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kgp_neo4j.load.pdf.boxes import Box
from kgp_neo4j.load.pdf.captions import CAPTION, Caption, caption_of, is_continued, printed_number
from kgp_neo4j.load.pdf.columns import Flow, reading_order
from kgp_neo4j.load.pdf.furniture import Edges, edges_of
from kgp_neo4j.load.pdf.grids import Grid
from kgp_neo4j.load.pdf.letters import Line, Word, line_text, lines_of, page_turn, words_of
from kgp_neo4j.load.pdf.objects import objects_of
from kgp_neo4j.load.pdf.open_tables import aligned_tables, contents
from kgp_neo4j.load.pdf.paragraphs import Lexicon, joined, paragraphs
from kgp_neo4j.load.pdf.rules import rules_of
from kgp_neo4j.load.pdf.tables import ruled_tables

__all__ = ["Block", "PageParts", "blocks_of", "parts_of"]

#: A paragraph, or a table where it stands.
Block: TypeAlias = str | Grid


@dataclass(slots=True)
class PageParts:
    """What was found on a page; `words` are those outside its ruled tables."""

    number: int
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    words: list[Word] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    edges: Edges = field(default_factory=lambda: Edges([], []))
    #: The page holds a picture or a drawing.
    has_picture: bool = False
    #: Text set on its side in the margin: a stamp, the printer's marks.
    margin: str = ""


def parts_of(page: Any) -> PageParts:
    """Return the words, ruled tables and edges of a page as pdfplumber gives it."""
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
    return PageParts(
        number, label, width, height, rest, grids, edges_of(rest, height), has_picture, margin
    )


def blocks_of(
    parts: PageParts, left_out: Sequence[Line], lexicon: Lexicon, gutters: list[float]
) -> list[Block]:
    """Return the paragraphs and tables of a page in reading order, without header and footer.

    `lexicon` has the document's words, `gutters` the places of the gaps between its columns; what
    this page shows of both is added.
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
    """Return a flow's blocks; `search` looks for tables that gaps alone make among its lines."""
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
        [*free, *grids], key=lambda p: p.box.top if isinstance(p, Grid) else p.middle
    )
    return _blocks(flow, captions, lexicon, search=False)


def _outside(lines: Sequence[Line], grids: Sequence[Grid]) -> list[Line]:
    held = {id(word) for grid in grids for word in grid.words}
    return [line for line in lines if not held & {id(word) for word in line.words}]


def _stretches(lines: Sequence[Line], free: Sequence[Line]) -> list[list[Line]]:
    """Return the free lines in runs that nothing parts."""
    allowed = {id(line) for line in free}
    made: list[list[Line]] = [[]]
    for line in lines:
        if id(line) in allowed:
            made[-1].append(line)
        elif made[-1]:
            made.append([])
    return [part for part in made if part]


def _with_caption(grid: Grid, caption: Caption | None, lexicon: Lexicon) -> list[Block]:
    """Return a table with its caption before or after it, the caption's parts set on the table."""
    if caption is None:
        grid.caption = grid.heading
        return [grid.caption, grid] if grid.caption else [grid]
    text = joined([line_text(line.words) for line in caption.lines], lexicon)
    grid.caption, grid.number, grid.continued = text, printed_number(text), is_continued(text)
    heading = [grid.heading] if grid.heading else []
    return [text, *heading, grid] if caption.above else [*heading, grid, text]


def _add(made: list[Block], blocks: Sequence[Block], lexicon: Lexicon) -> None:
    """Add a column's blocks; a sentence that goes on from the column before stays one paragraph."""
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
    """Return words set on their side as lines, each read its own way."""
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
