"""A table in memory: its columns and the cells of each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kgp_neo4j.text.words import STOP_WORDS, fold, stem

#: Words that name nothing in a table: those of every text, and question words.
STOP = STOP_WORDS.union(
    "name list listed give tell total number amount previous long table chart".split()
)
#: Words of a cell that a question is compared with, at most.
_MOST_WORDS = 40


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as the graph has it: its text, the text in normal form, and its value."""

    text: str
    norm: str
    value: float | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its place from 1, its header, the header's normal form, and its cells' type."""

    order: int
    header: str
    norm: str
    type: str

    @property
    def name(self) -> str:
        """Return the header, or the column's place where it has none."""
        return self.header or f"column {self.order}"


@dataclass(frozen=True)
class Grid:
    """A table's data rows; `numbers` are the rows' numbers, counted from 1.

    `totals` are the rows (indexes) that sum up others: with `sum` or `average`.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: tuple[int, ...]
    totals: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """Return the cells of each column."""
        return tuple(tuple(row[at] for row in self.rows) for at in range(len(self.columns)))

    @cached_property
    def stems(self) -> tuple[tuple[str, ...], ...]:
        """Return the stems of each column's header."""
        return tuple(tuple(map(stem, fold(c.norm).split())) for c in self.columns)

    @cached_property
    def valued(self) -> tuple[float, ...]:
        """Return the share of each column's cells that have a number."""
        return tuple(_share([c.value for c in cells if c.norm]) for cells in self.cells)

    @cached_property
    def dated(self) -> tuple[float, ...]:
        """Return the share of each column's cells that have a date."""
        return tuple(_share([c.date for c in cells if c.norm]) for cells in self.cells)

    @cached_property
    def distinct(self) -> tuple[int, ...]:
        """Return the number of different texts in each column."""
        return tuple(len({c.norm for c in cells}) for cells in self.cells)

    @cached_property
    def counted(self) -> tuple[bool, ...]:
        """Return whether a column only numbers the rows."""
        return tuple(
            len(cells) > 1 and all(cell.value == at for at, cell in enumerate(cells[:20], 1))
            for cells in self.cells
        )

    @cached_property
    def folded(self) -> tuple[dict[str, tuple[str, ...]], ...]:
        """Return each column's texts without accents, with the normal forms of each."""
        columns: list[dict[str, tuple[str, ...]]] = []
        for cells in self.cells:
            texts: dict[str, tuple[str, ...]] = {}
            for norm in dict.fromkeys(cell.norm for cell in cells):
                if text := fold(norm):
                    texts[text] = (*texts.get(text, ()), norm)
            columns.append(texts)
        return tuple(columns)

    @cached_property
    def words(self) -> dict[str, list[tuple[int, tuple[str, ...], int]]]:
        """Return, by the first four letters of words, their (column, words of the cell, place)."""
        places: dict[str, list[tuple[int, tuple[str, ...], int]]] = {}
        for column, texts in zip(self.columns, self.folded, strict=True):
            for words in (tuple(text.split()) for text in texts):
                for place, word in enumerate(words[:_MOST_WORDS]):
                    places.setdefault(word[:4], []).append((column.order, words, place))
        return places


def _share(values: Sequence[object]) -> float:
    return sum(value is not None for value in values) / max(len(values), 1)
