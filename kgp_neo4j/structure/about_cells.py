"""Answers about rows, columns and cells of a table, by their places or by a column's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from kgp_neo4j.load.grid import normal
from kgp_neo4j.structure.about_tables import cite_column, each_table
from kgp_neo4j.structure.answers import Context, answer, each, joined, nothing, plural, table_of
from kgp_neo4j.structure.language import content
from kgp_neo4j.structure.outline import ColumnOutline, TableOutline
from kgp_neo4j.structure.resolving import phrases_of, stem
from kgp_neo4j.structures import Citation, StructuralAnswer
from kgp_neo4j.values import typed

__all__ = ["cell_by_names", "cells", "column_values", "find_column", "name_of_column"]

T = TypeVar("T")
#: Words that turn what a question says into something else, and that ask for a number.
_TURNED = re.compile(
    r"\b(?:not|without|except|excluding|but|before|after|above|below|only|altogether|first|last|"
    r"if)\b|^\s*(?:is|are|was|were|does|do|did|has|have|can)\b",
    re.IGNORECASE,
)
_COUNTING = re.compile(r"\bhow\s+(?:many|much)\b|\bnumber\s+of\b", re.IGNORECASE)
#: Values that are shown, cells that are cited, and rows that are read of a column.
_SHOWN, _CITED, _LISTED = 40, 50, 2_000


def find_column(table: TableOutline, name: str) -> ColumnOutline | None:
    """Return the column of that name: the same but for endings, or the only one like it."""
    wanted = normal(name)
    stems = [stem(word) for word in wanted.split()]
    for test in (
        lambda c: c.norm == wanted,
        lambda c: [stem(word) for word in c.norm.split()] == stems,
        lambda c: wanted in {normal(part) for part in c.header.split(" / ")},
        lambda c: bool(stems) and set(stems) <= {stem(word) for word in c.norm.split()},
        lambda c: (
            bool(c.norm) and {stem(w) for w in content(c.header)} == {*content(" ".join(stems))}
        ),
    ):
        found = [column for column in table.columns if test(column)]
        if len(found) == 1:
            return found[0]
    return None


def name_of_column(context: Context) -> StructuralAnswer:
    """The name or type of a column by its place; with its values where it is asked as such."""

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        chosen = _by_place(table, context.made.columns)
        if not chosen:
            return _no_column(context, table)
        if context.asked.form == "type_of_column":
            kinds = [column.type for column in chosen]
            text = f"{joined([c.name for c in chosen])}: {joined(kinds)}."
            return answer(text, kinds, [cite_column(context, table, c) for c in chosen])
        names = [column.name for column in chosen]
        places = joined([column.order for column in chosen])
        text = f"Column {places} of {table_of(context, table)} is “{joined(names)}”."
        if context.asked.form == "column_of_number" and len(chosen) == 1:
            rows = context.library.read(
                "rows", table=table.id, numbers=[], columns=[chosen[0].order], limit=_SHOWN
            )
            listed = ", ".join(cell for row in rows for cell in row["cells"] if cell)
            more = f" and {table.rows - len(rows):,} more" if table.rows > len(rows) else ""
            text = f"{text.removesuffix('.')}: {listed}{more}."
        return answer(
            text,
            names,
            [cite_column(context, table, column) for column in chosen],
            reading=f"column {places} of {table_of(context, table)}",
        )

    return each_table(context, one)


def _by_place(table: TableOutline, places: Sequence[int]) -> list[ColumnOutline]:
    counted = [place if place > 0 else len(table.columns) + 1 + place for place in places]
    return [table.columns[at - 1] for at in counted if 1 <= at <= len(table.columns)]


def _no_column(context: Context, table: TableOutline, name: str = "") -> StructuralAnswer:
    asked = f"column “{name}”" if name else f"column {joined(context.made.columns)}"
    names = ", ".join(column.name for column in table.columns[:30])
    return nothing(
        f"{table_of(context, table)} has no {asked}; it has {plural(len(table.columns), 'column')}"
        f": {names}."
    )


def cells(context: Context) -> StructuralAnswer:
    """What stands in rows by number: whole rows, or the cells of columns by number."""
    places = context.made.rows

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        columns = list(table.columns)
        if context.made.columns:
            columns = _by_place(table, context.made.columns)
            if not columns:
                return _no_column(context, table)
        rows = context.library.read(
            "rows",
            table=table.id,
            numbers=places,
            columns=[column.order for column in columns] if context.made.columns else [],
        )
        if not rows:
            return nothing(
                f"{table_of(context, table)} has no row {joined(places)}; it has "
                f"{plural(table.rows, 'row')} besides its header."
            )
        cites, values, lines = [], [], []
        for row in rows:
            for column, text in zip(columns, row["cells"], strict=True):
                values.append(text)
                cites.append(_cite_cell(context, table, row, column, text))
            if len(columns) == 1:
                lines.append(row["cells"][0] or "(empty)")
            else:
                said = "; ".join(
                    f"{column.name}: {text}" if column.header else text
                    for column, text in zip(columns, row["cells"], strict=True)
                    if text
                )
                lines.append(f"Row {row['number']} of {table_of(context, table)}: {said}.")
        what = f"row {joined([row['number'] for row in rows])}"
        if context.made.columns:
            what += f", column {joined([c.order for c in columns])}"
        return answer(
            "\n".join(lines),
            values if len(columns) == 1 else [value for value in values if value],
            cites[:_CITED],
            reading=f"{what} of {table_of(context, table)}",
        )

    return each_table(context, one)


def _cite_cell(
    context: Context, table: TableOutline, row: dict[str, object], column: ColumnOutline, text: str
) -> Citation:
    return context.library.cite(
        table.document,
        page=row["page"],  # type: ignore[arg-type]
        table=table,
        row=row["number"],
        row_name=row["title"],
        column=column.order,
        column_name=column.header,
        text=text,
    )


def column_values(context: Context) -> StructuralAnswer | None:
    """All values of a column, by its name or place; None where a table has no such column."""
    name = context.asked.target
    found = [
        (table, column)
        for table in context.found.tables
        for column in (
            [find_column(table, name)] if name else _by_place(table, context.made.columns)
        )
        if column
    ]
    if not found:
        if name:
            return None
        return each(context, context.found.tables, lambda table: _no_column(context, table))

    def one(item: tuple[TableOutline, ColumnOutline]) -> StructuralAnswer:
        table, column = item
        rows = context.library.read(
            "rows", table=table.id, numbers=[], columns=[column.order], limit=_LISTED
        )
        values = [row["cells"][0] for row in rows if row["cells"]]
        listed = ", ".join(value for value in values[:_SHOWN] if value)
        more = f" … ({len(values):,} of {table.rows:,} rows)" if len(values) > _SHOWN else ""
        return answer(
            f"{column.name} in {table_of(context, table)}: {listed}{more}.",
            [value for value in values if value],
            [
                _cite_cell(context, table, row, column, row["cells"][0])
                for row in rows[:_CITED]
                if row["cells"] and row["cells"][0]
            ],
            reading=f"the values of the column {column.name} of {table_of(context, table)}",
        )

    return each(context, found, one)


def cell_by_names(context: Context, table: TableOutline) -> StructuralAnswer | None:
    """Return the cell of a row and a column that the question names in full, if it says no more.

    A row is named by its first cell. None where either is not the only one, or words are left.
    """
    asked = context.made.rest
    if table.rows > _LISTED or _TURNED.search(asked):
        return None
    phrases = phrases_of(asked)
    columns = _longest([(c.norm, c) for c in table.columns[1:] if c.norm in phrases])
    rows = context.library.read("rows", table=table.id, numbers=[], columns=[1], limit=_LISTED)
    named = _longest([(n, r) for r in rows for n in map(normal, r["cells"]) if n in phrases])
    if len(named) > 1:  # "the Totals of Alaska", in a table that ends in a row of totals
        named = [(norm, row) for norm, row in named if norm not in {n for n, _ in columns}]
    if len(columns) != 1 or len(named) != 1:
        return None
    (column_norm, column), (row_norm, row) = columns[0], named[0]
    left = f" {normal(asked)} ".replace(f" {row_norm} ", " ").replace(f" {column_norm} ", " ")
    if any(word not in ("row", "column", "cell", "entry", "table") for word in content(left)):
        return None
    (found,) = context.library.read(
        "rows", table=table.id, numbers=[row["number"]], columns=[column.order]
    )
    (text,) = found["cells"]
    if _COUNTING.search(asked) and typed(text).number is None:
        return None
    return answer(
        text or "(empty)",
        [text],
        [_cite_cell(context, table, found, column, text)],
        reading=f"{column.name} where the row is {row['title']}",
    )


def _longest(found: list[tuple[str, T]]) -> list[tuple[str, T]]:
    """Return those whose name no longer one contains."""
    return [
        (norm, item)
        for norm, item in found
        if not any(norm != other and f" {norm} " in f" {other} " for other, _ in found)
    ]
