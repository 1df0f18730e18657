"""Reads the slides of a PowerPoint file, each as one page."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kgp_neo4j.load.blocks import Blocks
from kgp_neo4j.load.heads import captioned, header_rows, trimmed
from kgp_neo4j.load.office_numbers import shown_value
from kgp_neo4j.structures import SourcePage, SourceTable, Span

__all__ = ["read_slides"]

Slides = tuple[str, tuple[SourcePage, ...], tuple[SourceTable, ...], tuple[str, ...]]


def read_slides(data: bytes) -> Slides:
    """Return text, pages, tables and what was left out of a .pptx file.

    A slide's title comes first, then its shapes from top to bottom, then the speaker's notes. The
    numbers of a chart are a table.
    """
    from pptx import Presentation

    blocks, left_out = Blocks(), []
    for at, slide in enumerate(Presentation(io.BytesIO(data)).slides, 1):
        before = blocks.length
        shapes = list(_ordered(slide.shapes))
        title = slide.shapes.title
        if title is not None:
            blocks.add(_text(title))
        for shape in shapes:
            if title is None or shape.shape_id != title.shape_id:
                _add_shape(blocks, shape, at)
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame):
            blocks.add(notes.text)
        if blocks.length == before and shapes:
            left_out.append(f"page {at}: only pictures, no text")
        blocks.end_page()
    text, pages, tables = blocks.laid_out()
    return text, pages, captioned(text, tables), tuple(left_out)


def _ordered(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield shapes from top to bottom, those of a group together."""
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            yield from _ordered(shape.shapes)
        else:
            yield shape


def _add_shape(blocks: Blocks, shape: Any, page: int) -> None:
    table = None
    if getattr(shape, "has_table", False):
        table = _table(shape.table)
    elif getattr(shape, "has_chart", False):
        table = _chart(shape.chart)
    elif shape.has_text_frame:
        blocks.add(_text(shape))
    if table:
        blocks.add_table(replace(table, row_pages=(page,) * len(table.rows)))


def _text(shape: Any) -> str:
    return str(shape.text_frame.text).replace("\v", "\n")


def _table(table: Any) -> SourceTable | None:
    rows: list[list[str]] = []
    spans = []
    for r, row in enumerate(table.rows):
        rows.append([])
        for c, cell in enumerate(row.cells):
            rows[-1].append(" ".join(cell.text.split()))
            if cell.is_merge_origin:
                down = min(cell.span_height, len(table.rows) - r)
                spans.append(Span(r, c, down, min(cell.span_width, len(row.cells) - c)))
    for span in spans:
        for row in rows[span.row : span.row + span.rows]:
            text = rows[span.row][span.column]
            row[span.column : span.column + span.columns] = [text] * span.columns
    full, kept = trimmed(rows, spans)
    if not full:
        return None
    heads = header_rows(full, kept)
    return SourceTable(
        rows=tuple(map(tuple, full)),
        header_rows=max(heads, 1) if table.first_row and len(full) > 1 else heads,
        spans=kept,
    )


def _chart(chart: Any) -> SourceTable | None:
    """Return the numbers that a chart shows: a row for each category, a column for each series."""
    if not chart.plots:
        return None
    series = list(chart.plots[0].series)
    names = [" ".join(map(str, labels)) for labels in chart.plots[0].categories.flattened_labels]
    if not series or not names:
        return None
    has_title = chart.has_title and chart.chart_title.has_text_frame
    title = chart.chart_title.text_frame.text if has_title else ""
    columns = [list(one.values) for one in series]
    rows = [("", *(one.name or "" for one in series))]
    for at, name in enumerate(names):
        rows.append((name, *(shown_value(c[at]) if at < len(c) else "" for c in columns)))
    return SourceTable(rows=tuple(rows), caption=" ".join(title.split()))
