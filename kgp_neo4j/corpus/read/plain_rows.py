"""The form in which a passage is read: rows with their columns' names, lines that end a sentence.

A reader trained on prose does not know whose value a cell of Markdown is. So "| Torsa | 1998 |" is
read as "Vessel: Torsa; Built: 1998.", and a line of a form, which has no full stop, gets one. What
is put in and the bars between cells have no place in the passage: no answer goes from one cell or
line into the next.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from kgp_neo4j.corpus.load.split import sentences

_RULE = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+")
#: Columns of a table whose rows are read with names; with more, the names hide the values.
_WIDE = 6
#: A cell of a row of Markdown, behind its bar; a bar after a backslash stands within one.
_CELL = re.compile(r"\|(?!\Z)\s*+((?:[^|\\\n]|\\.)*)")


def plain_rows(text: str, columns: Sequence[str] = ()) -> tuple[str, list[int] | None]:
    """Return the text as it is read, and for each character its place in `text`, -1 for none.

    `columns` are the names of the columns of the table that the text begins within. The places are
    None where nothing was changed.
    """
    if "\n" not in text and not text.startswith("|"):
        return text, None
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]*\n?", text)]
    begins = {start for start, _ in sentences(text)}
    parts: list[str] = []
    places: list[int] = []
    names = list(columns)

    def put(text_part: str, at: int = -1) -> None:
        parts.append(text_part)
        places.extend(range(at, at + len(text_part)) if at >= 0 else [-1] * len(text_part))

    for (at, line), (_, following) in pairwise([*lines, (0, "")]):
        if line.startswith("|") and len(_cells(line)) > _WIDE:
            for part in re.split(r"([|\n])", line):
                put(part, -1 if part in ("|", "\n") else at)
                at += len(part)
        elif not line.startswith("|"):
            names = []
            shown = line.rstrip()
            put(shown, at)
            if len(shown) < len(line):
                ended = at + len(line) in begins and shown[-1:].isalnum()
                put("." if ended else "\n")
        elif _is_rule(line):
            continue
        elif _is_rule(following):
            names = [line[start:end] for start, end in _cells(line)]
        else:
            cells = _cells(line)
            for column, (start, end) in enumerate(cells):
                name = names[column] if column < len(names) else ""
                put(f"{name}: " if name else "")
                put(line[start:end], at + start)
                put("; " if column < len(cells) - 1 else ".\n")
    return "".join(parts), places


class TableRow(NamedTuple):
    """A row of Markdown: its columns' names, its cells' places, and the row above that heads it."""

    names: Sequence[str]
    cells: list[tuple[int, int]]
    section: str


def rows_of(text: str, columns: Sequence[str] = ()) -> Iterator[TableRow]:
    """Yield the data rows of the tables in a text; `columns` are those that it begins within."""
    names, section = list(columns), ""
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]+\n?", text)]
    for (at, line), (_, following) in pairwise([*lines, (0, "")]):
        if not line.startswith("|"):
            names, section = [], ""
        elif _is_rule(following):
            names, section = [line[start:end] for start, end in _cells(line)], ""
        elif not _is_rule(line):
            cells = [(at + start, at + end) for start, end in _cells(line)]
            filled = {text[start:end] for start, end in cells} - {""}
            if len(cells) > 1 and len(filled) == 1:
                section = filled.pop()
            else:
                yield TableRow(names, cells, section)


def as_read(text: str, start: int, end: int, columns: Sequence[str] = ()) -> str:
    """Return a sentence of a text; a row of a table with the names of its columns."""
    if text.startswith("|", start):
        for row in rows_of(text, columns):
            if row.cells and start <= row.cells[0][0] < end:
                named = zip_longest(row.names[: len(row.cells)], row.cells, fillvalue="")
                held = [(name, text[slice(*cell)]) for name, cell in named]
                shown = [f"{name}: {cell}" if name else cell for name, cell in held if cell]
                return "; ".join([row.section] * bool(row.section) + shown)
    return text[start:end].strip()


def _is_rule(line: str) -> bool:
    return line.startswith("|") and bool(_RULE.fullmatch(line))


def _cells(line: str) -> list[tuple[int, int]]:
    """Return the places of the texts in a row's cells."""
    cells = _CELL.finditer(line.rstrip())
    return [(cell.start(1), cell.start(1) + len(cell[1].rstrip())) for cell in cells]
