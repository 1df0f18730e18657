"""A table in memory: its columns and the cells of each row."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.text.values import column_type, typed
from kgp_neo4j.text.words import stem

__all__ = ["Cell", "Column", "Grid", "folded", "grid_of"]

#: Letters of a code, at most: W, ITA.
_CODE = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as the graph has it: its text, the text in normal form, and its value."""

    text: str
    norm: str
    value: float | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its place from 1, its header, and the type of most of its cells."""

    order: int
    header: str
    type: str

    @property
    def name(self) -> str:
        """Return the header, or the place where there is none."""
        return self.header or f"column {self.order}"


@dataclass(frozen=True)
class Grid:
    """A table's data rows; `numbers` are the rows' numbers, counted from 1."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: tuple[int, ...]

    @cached_property
    def stems(self) -> tuple[tuple[str, ...], ...]:
        """Return the stems of each column's header."""
        return tuple(tuple(map(stem, folded(normal(c.header)).split())) for c in self.columns)

    @cached_property
    def valued(self) -> tuple[float, ...]:
        """Return the share of each column's cells that have a number."""
        return tuple(self._share(c.order - 1, "value") for c in self.columns)

    @cached_property
    def dated(self) -> tuple[float, ...]:
        """Return the share of each column's cells that have a date."""
        return tuple(self._share(c.order - 1, "date") for c in self.columns)

    @cached_property
    def distinct(self) -> tuple[int, ...]:
        """Return the number of different texts in each column."""
        return tuple(len({row[c.order - 1].norm for row in self.rows}) for c in self.columns)

    @cached_property
    def counted(self) -> tuple[bool, ...]:
        """Return whether a column only numbers the rows."""
        first = [[row[c.order - 1].value for row in self.rows[:20]] for c in self.columns]
        return tuple(
            len(values) > 1 and values == [float(at + 1) for at in range(len(values))]
            for values in first
        )

    @cached_property
    def folded(self) -> tuple[dict[str, tuple[str, ...]], ...]:
        """Return each column's texts without accents, with the texts (normal form) that they stand
        for.
        """
        made: list[dict[str, tuple[str, ...]]] = []
        for column in self.columns:
            found: dict[str, dict[str, None]] = {}
            for row in self.rows:
                norm = row[column.order - 1].norm
                found.setdefault(folded(norm), {})[norm] = None
            made.append({key: tuple(norms) for key, norms in found.items() if key})
        return tuple(made)

    @cached_property
    def codes(self) -> tuple[dict[str, tuple[str, ...]], ...]:
        """Return the texts, as `folded` does, of each column that has short codes alone."""
        return tuple(
            found if all(len(text) <= _CODE and text.isalpha() for text in found) else {}
            for found in self.folded
        )

    @cached_property
    def words(self) -> dict[str, list[tuple[int, tuple[str, ...], int]]]:
        """Return the places of words: by their first four letters, (column, words of the cell,
        place).
        """
        made: dict[str, list[tuple[int, tuple[str, ...], int]]] = {}
        for column, texts in zip(self.columns, self.folded, strict=True):
            for text in texts:
                parts = tuple(text.split())
                for place, part in enumerate(parts[:40]):
                    made.setdefault(part[:4], []).append((column.order, parts, place))
        return made

    def _share(self, at: int, name: str) -> float:
        filled = [row[at] for row in self.rows if row[at].norm]
        return sum(getattr(c, name) is not None for c in filled) / max(len(filled), 1)


def grid_of(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Grid:
    """Return the grid of texts that are in no graph; short rows are padded with empty cells."""
    width = len(header)
    texts = [[*row, *[""] * (width - len(row))][:width] for row in rows]
    columns = tuple(
        Column(at + 1, " ".join(name.split()), column_type(row[at] for row in texts))
        for at, name in enumerate(header)
    )
    made = tuple(tuple(_cell(text) for text in row) for row in texts)
    return Grid(columns, made, tuple(range(1, len(made) + 1)))


def _cell(text: str) -> Cell:
    value = typed(text)
    return Cell(text, normal(text), value.number, value.date)


def folded(text: str) -> str:
    """Return a text without accents."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c))
