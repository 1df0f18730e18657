"""Look up tables: the list of them, and one table's rows, columns, cells, caption and pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.look_up import (
    Context,
    answer,
    each,
    joined,
    nothing,
    on_pages,
    paged,
    places,
    plural,
    table_of,
)
from kgp_neo4j.corpus.tables.outline import ColumnOutline, TableOutline
from kgp_neo4j.corpus.tables.pages import count_mentions
from kgp_neo4j.corpus.tables.references import content
from kgp_neo4j.corpus.tables.resolving import by_words, phrases_of, stems
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.text.values import typed
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.tables import Citation, StructuralAnswer

__all__ = [
    "cell_by_names",
    "count",
    "look_up_cells",
    "look_up_column",
    "look_up_table",
    "look_up_tables",
    "markdown_of",
]

T = TypeVar("T")
#: Rows shown of a long table, cells and tables that are cited, rows read of a column, at most.
_SHOWN, _CITED, _LISTED = 40, 50, 2_000


def look_up_table(context: Context) -> StructuralAnswer:
    """Return a part of each named table: its rows, columns, caption, pages, or that it exists."""
    make = {
        "columns": _columns,
        "caption": _caption,
        "pages": _pages,
        "exists": _exists,
    }.get(context.look_up.part, _content)
    return _each_table(context, make)


def _each_table(
    context: Context, make: Callable[[Context, TableOutline], StructuralAnswer]
) -> StructuralAnswer:
    return each(context, context.found.tables, lambda table: make(context, table))


def _content(context: Context, table: TableOutline) -> StructuralAnswer:
    markdown, cut = markdown_of(context, table)
    where = f" (page {table.pages[0]})" if len(table.pages) == 1 else ""
    said = f"{table_of(context, table)}{where}{f': {table.caption}' if table.caption else ''}"
    size = f"{plural(table.rows, 'row')}, {plural(len(table.columns), 'column')}"
    return answer(
        f"{said} [{size}{f'; {cut}' if cut else ''}]\n\n{markdown}",
        [table.caption or ", ".join(column.name for column in table.columns)],
        [context.library.cite(table.document, table=table)],
        reading=f"the content of {table_of(context, table)}",
        markdown=markdown,
    )


def markdown_of(context: Context, table: TableOutline, limit: int = _SHOWN) -> tuple[str, str]:
    """Return a table as Markdown, at most `limit` rows, and a note on the cut ("" if there is
    none).
    """
    rows = context.library.read("rows", table=table.id, numbers=[], columns=[], limit=limit)
    names = [column.header for column in table.columns]
    lines = [
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"
        for row in (names, *(row["cells"] for row in rows))
    ]
    lines.insert(1, "|" + " --- |" * len(names))
    cut = "" if len(rows) >= table.rows else f"rows 1-{len(rows)} of {table.rows:,} shown"
    return "\n".join(lines), cut


def _columns(context: Context, table: TableOutline) -> StructuralAnswer:
    names = [column.header for column in table.columns if column.header]
    listed = ", ".join(names) or f"{plural(len(table.columns), 'column')} without names"
    return answer(
        f"The columns of {table_of(context, table)}: {listed}.",
        names,
        [_cite_column(context, table, column) for column in table.columns[:_CITED]],
        reading=f"the columns of {table_of(context, table)}",
    )


def _caption(context: Context, table: TableOutline) -> StructuralAnswer:
    said = table.caption
    return answer(
        f"The caption of {table_of(context, table)}: {said}"
        if said
        else f"{table_of(context, table)} has no caption; its columns are "
        f"{', '.join(c.name for c in table.columns[:30])}.",
        [said] if said else [],
        [context.library.cite(table.document, table=table, text=said)],
        reading=f"the caption of {table_of(context, table)}",
    )


def _pages(context: Context, table: TableOutline) -> StructuralAnswer:
    if not table.pages:
        return nothing(f"{table_of(context, table)} is in a document without pages.")
    many = "pages" if len(table.pages) > 1 else "page"
    return answer(
        f"{table_of(context, table)} is on {many} {joined(table.pages)}.",
        table.pages,
        [context.library.cite(table.document, table=table, page=p) for p in table.pages[:20]],
        reading=f"the pages of {table_of(context, table)}",
    )


def _exists(context: Context, table: TableOutline) -> StructuralAnswer:
    on = places(context)
    held = not on or bool(on_pages(context, [table]))
    return answer(
        f"{'Yes' if held else 'No'}: {table_of(context, table)} {_listed(context, table)}",
        ["yes" if held else "no"],
        [context.library.cite(table.document, table=table, text=table.caption)],
        reading=f"whether there is {table_of(context, table)}{' on that page' if on else ''}",
    )


# --- Rows, columns and cells ---

#: Words that turn a question into another one, and words that ask for a number.
_TURNED = re.compile(
    r"\b(?:not|without|except|excluding|but|before|after|above|below|only|altogether|first|last|"
    r"if)\b|^\s*(?:is|are|was|were|does|do|did|has|have|can)\b",
    re.IGNORECASE,
)
_COUNTING = re.compile(r"\bhow\s+(?:many|much)\b|\bnumber\s+of\b", re.IGNORECASE)


def find_column(table: TableOutline, name: str) -> ColumnOutline | None:
    """Return the column of that name: the same except for endings, or the only one like it."""
    wanted = normal(name)
    words = {stem(word) for word in wanted.split()}
    for test in (
        lambda c: c.norm == wanted,
        lambda c: wanted in {normal(part) for part in c.header.split(" / ")},
        lambda c: bool(words) and words <= {stem(word) for word in c.norm.split()},
        lambda c: bool(stems(c.header)) and stems(c.header) == stems(name),
    ):
        found = [column for column in table.columns if test(column)]
        if len(found) == 1:
            return found[0]
    return None


def _chosen_columns(context: Context, table: TableOutline) -> list[ColumnOutline]:
    """Return the columns given by their name or by their places."""
    if name := context.look_up.column:
        return [column for column in [find_column(table, name)] if column]
    counted = [at if at > 0 else len(table.columns) + 1 + at for at in context.made.columns]
    return [table.columns[at - 1] for at in counted if 1 <= at <= len(table.columns)]


def _no_column(context: Context, table: TableOutline) -> StructuralAnswer:
    name = context.look_up.column
    asked = f"column “{name}”" if name else f"column {joined(context.made.columns)}"
    names = ", ".join(column.name for column in table.columns[:30])
    return nothing(
        f"{table_of(context, table)} has no {asked}; it has {plural(len(table.columns), 'column')}"
        f": {names}."
    )


def _cite_column(context: Context, table: TableOutline, column: ColumnOutline) -> Citation:
    return context.library.cite(
        table.document,
        table=table,
        column=column.order,
        column_name=column.header,
        text=column.header,
    )


def look_up_column(context: Context) -> StructuralAnswer | None:
    """Return a column's name or its values; None where no table has a column of that name."""
    named = context.look_up.part == "name"

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        columns = _chosen_columns(context, table)
        if not columns:
            return _no_column(context, table)
        if named:
            order = joined([column.order for column in columns])
            return answer(
                f"Column {order} of {table_of(context, table)} is "
                f"“{joined([column.name for column in columns])}”.",
                [column.name for column in columns],
                [_cite_column(context, table, column) for column in columns],
                reading=f"column {order} of {table_of(context, table)}",
            )
        return _values(context, table, columns[0])

    made = _each_table(context, one)
    return None if context.look_up.column and not made.found else made


def _values(context: Context, table: TableOutline, column: ColumnOutline) -> StructuralAnswer:
    rows = context.library.read(
        "rows", table=table.id, numbers=[], columns=[column.order], limit=_LISTED
    )
    held = [(row, row["cells"][0]) for row in rows if row["cells"] and row["cells"][0]]
    more = f" … ({len(rows):,} of {table.rows:,} rows)" if len(held) > _SHOWN else ""
    return answer(
        f"{column.name} in {table_of(context, table)}: "
        f"{', '.join(text for _, text in held[:_SHOWN])}{more}.",
        [text for _, text in held],
        [_cite_cell(context, table, row, column, text) for row, text in held[:_CITED]],
        reading=f"the values of the column {column.name} of {table_of(context, table)}",
    )


def look_up_cells(context: Context) -> StructuralAnswer | None:
    """Return whole rows, or the cells of some columns in them; None where no row has that name."""
    wanted = context.look_up.kind == "cell"

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        columns = _chosen_columns(context, table) if wanted else list(table.columns)
        if not columns:
            return _no_column(context, table)
        numbers = context.made.rows
        if name := context.look_up.row:
            numbers = [row["number"] for _, row in _rows_named(context, table, [normal(name)])]
        rows = context.library.read(
            "rows",
            table=table.id,
            numbers=numbers,
            columns=[column.order for column in columns] if wanted else [],
        ) if numbers else []  # fmt: skip
        if not rows:
            asked = f"“{name}”" if name else joined(numbers)
            return nothing(
                f"{table_of(context, table)} has no row {asked}; it has "
                f"{plural(table.rows, 'row')} besides its header."
            )
        return _of_rows(context, table, columns, rows)

    made = _each_table(context, one)
    return None if context.look_up.row and not made.found else made


def _of_rows(
    context: Context, table: TableOutline, columns: Sequence[ColumnOutline], rows: Sequence[Row]
) -> StructuralAnswer:
    values, cites, lines = [], [], []
    for row in rows:
        for column, text in zip(columns, row["cells"], strict=True):
            values.append(text)
            cites.append(_cite_cell(context, table, row, column, text))
        said = "; ".join(
            f"{column.name}: {text}" if column.header else text
            for column, text in zip(columns, row["cells"], strict=True)
            if text
        )
        one = len(columns) == 1
        lines.append(
            row["cells"][0] or "(empty)"
            if one
            else f"Row {row['number']} of {table_of(context, table)}: {said}."
        )
    what = f"row {joined([row['number'] for row in rows])}"
    if len(columns) < len(table.columns):
        what += f", column {joined([column.order for column in columns])}"
    return answer(
        "\n".join(lines),
        values if len(columns) == 1 else [value for value in values if value],
        cites[:_CITED],
        reading=f"{what} of {table_of(context, table)}",
    )


def _cite_cell(
    context: Context, table: TableOutline, row: Row, column: ColumnOutline, text: str
) -> Citation:
    return context.library.cite(
        table.document,
        page=row["page"],
        table=table,
        row=row["number"],
        row_name=row["title"],
        column=column.order,
        column_name=column.header,
        text=text,
    )


def cell_by_names(context: Context, table: TableOutline) -> StructuralAnswer | None:
    """Return the cell of a row and a column that the question names in full and nothing more.

    A row is named by its first cell. None where either is ambiguous, or words are left.
    """
    asked = context.made.rest
    if table.rows > _LISTED or _TURNED.search(asked):
        return None
    phrases = phrases_of(asked)
    columns = _longest([(c.norm, c) for c in table.columns[1:] if c.norm in phrases])
    named = _longest(_rows_named(context, table, phrases))
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


def _rows_named(
    context: Context, table: TableOutline, names: Sequence[str] | set[str]
) -> list[tuple[str, Row]]:
    """Return the rows whose first cell is one of the names (in normal form)."""
    rows = context.library.read("rows", table=table.id, numbers=[], columns=[1], limit=_LISTED)
    return [(n, row) for row in rows for n in map(normal, row["cells"]) if n in names]


def _longest(found: list[tuple[str, T]]) -> list[tuple[str, T]]:
    """Return those whose name is not contained in a longer one."""
    return [
        (norm, item)
        for norm, item in found
        if not any(norm != other and f" {norm} " in f" {other} " for other, _ in found)
    ]


# --- Lists of tables ---


def look_up_tables(context: Context) -> StructuralAnswer:
    """Return the tables of the documents or pages: all, those with a column, or about something.

    The values are their names or captions, their pages or documents, their number, or whether there
    are any.
    """
    look, library = context.look_up, context.library
    tables, where = _scope(context)
    if look.column:
        held = {t.id: c for t in tables if (c := find_column(t, look.column))}
        exact = {id_: c for id_, c in held.items() if c.norm == normal(look.column)}
        tables = [table for table in tables if table.id in (exact or held)]
        where += f" with a column “{look.column}”"
    elif look.phrase:
        there, tables = tables, by_words(library, look.phrase, tables)
        if not tables:
            return nothing(f"No table {where} fits. The tables are:\n{_lines(context, there)}")
        where += f" that fit “{look.phrase}”"
    values: list[object]
    size = plural(len(tables), "table")
    if look.kind == "count":
        values = [len(tables)]
    elif look.part == "exists":
        values, size = ["yes" if tables else "no"], f"Yes, {size}"
    elif look.part == "pages":
        pairs = dict.fromkeys((table.document, page) for table in tables for page in table.pages)
        values = [page for _, page in sorted(pairs)]
        size = (
            f"{plural(len(values), 'page')} ({_run([page for _, page in sorted(pairs)])}): {size}"
        )
    elif look.part == "documents":
        values = [*dict.fromkeys(library.document(table.document).title for table in tables)]
        size = f"{joined(values) if values else ''}: {size}"
    else:
        values = [(look.part == "captions" and table.caption) or table.name for table in tables]
    return answer(
        f"{size} {where}:\n{_lines(context, tables)}"
        if tables
        else f"{'No, there' if look.part == 'exists' else 'There'} is no table {where}.",
        values,
        [library.cite(t.document, table=t, text=t.caption) for t in tables[:_CITED]],
        reading=f"{'count ' if look.kind == 'count' else ''}the tables {where}",
    )


def _scope(context: Context) -> tuple[list[TableOutline], str]:
    """Return the tables of the documents or pages in question, and that scope in words."""
    tables = context.library.tables(context.found.documents)
    titles = [document.title for document in context.found.documents]
    where = f"in {joined(titles[:3])}" if len(titles) <= 3 else "in the corpus"
    if on := places(context):
        tables = on_pages(context, tables)
        numbers = sorted({number for _, number in on})
        pages = f"page {numbers[0]}" if len(numbers) == 1 else f"pages {_run(numbers)}"
        held = {document.title for document, _ in context.found.pages}
        where = f"on {pages}{f' of {joined(sorted(held))}' if len(held) <= 3 else ''}"
    return tables, where


def _listed(context: Context, table: TableOutline) -> str:
    """Return a table's pages and caption, as it is listed."""
    pages = f"({'pages' if len(table.pages) > 1 else 'page'} {_run(table.pages)})"
    said = table.caption if table.caption and normal(table.caption) != normal(table.name) else ""
    said = said or "columns " + ", ".join(column.name for column in table.columns[:8])
    return f"{pages if table.pages else ''}: {said}".removeprefix(": ")


def _run(pages: Sequence[int]) -> str:
    if len(pages) > 2 and pages[-1] - pages[0] == len(pages) - 1:
        return f"{pages[0]}-{pages[-1]}"
    return joined(pages) if pages else ""


def _lines(context: Context, tables: Sequence[TableOutline]) -> str:
    several = len(context.found.documents) > 1
    shown = "\n".join(
        f"- {table_of(context, table) if several else table.name} {_listed(context, table)}"
        for table in tables[:_CITED]
    )
    more = len(tables) - _CITED
    return f"{shown}\n… and {more} more" if more > 0 else shown


# --- Counts ---


def count(context: Context) -> StructuralAnswer:
    """Count pages, tables, rows, columns or cells, or the mentions of a phrase."""
    look = context.look_up
    if look.each:
        return _count_each(context)
    if look.phrase:
        return count_mentions(context)
    if look.part == "tables":
        return look_up_tables(context)
    if context.found.tables:
        return _each_table(context, _size)
    return _count_pages(context)


def _size(context: Context, table: TableOutline) -> StructuralAnswer:
    noun = context.look_up.part.removesuffix("s")
    size = _measured(table, noun)
    return answer(
        f"{table_of(context, table)} has {plural(size, noun)}"
        f"{' besides its header' if noun == 'row' else ''}.",
        [size],
        [context.library.cite(table.document, table=table)],
        reading=f"count the {noun}s of {table_of(context, table)}",
    )


def _measured(table: TableOutline, noun: str) -> int:
    columns = len(table.columns)
    sizes = {"row": table.rows, "column": columns, "page": len(table.pages)}
    return sizes.get(noun, table.rows * columns)


def _count_pages(context: Context) -> StructuralAnswer:
    documents = paged(context)
    if not documents:
        titles = joined([d.title for d in context.found.documents[:3]] or ["The corpus"])
        return nothing(f"{titles}: no pages are known (the format has none).")
    context.library.read("documents", corpus=context.library.corpus)
    listed = "; ".join(f"{d.title}: {d.pages}" for d in documents[:20])
    if context.found.named:
        return answer(
            f"{listed.replace(': ', ' has ')} pages.",
            [document.pages for document in documents],
            [context.library.cite(document.id) for document in documents[:_CITED]],
            reading=f"count the pages of {joined([d.title for d in documents[:20]])}",
        )
    total = sum(document.pages for document in documents)
    return answer(
        f"{plural(len(documents), 'document')} have {plural(total, 'page')} in all ({listed}).",
        [total],
        [context.library.cite(document.id) for document in documents[:_CITED]],
        reading="count the pages of all documents",
    )


def _count_each(context: Context) -> StructuralAnswer:
    """Count for each page, table or document, and return all counts or the most or fewest."""
    look, library = context.look_up, context.library
    noun = look.part.removesuffix("s")
    tables, where = _scope(context)
    several = len(context.found.documents) > 1
    rows: list[tuple[str, str, int, Citation]] = []
    if look.each == "table":
        for table in tables:
            name = table_of(context, table) if several else table.name
            cite = library.cite(table.document, table=table, text=table.caption)
            rows.append((table.name, name, _measured(table, noun), cite))
    elif look.each == "page":
        on = Counter((table.document, page) for table in tables for page in table.pages)
        for document in paged(context)[:50]:
            for number in range(1, document.pages + 1):
                name = f"page {number}{f' of {document.title}' if several else ''}"
                cite = library.cite(document.id, page=number)
                rows.append((str(number), name, on[document.id, number], cite))
    else:
        for document in context.found.documents:
            size = document.pages if noun == "page" else document.tables
            rows.append((document.title, document.title, size, library.cite(document.id)))
    reading = f"count the {noun}s of each {look.each} {where}"
    if not rows:
        return nothing(f"There is no {look.each} {where}.")
    if look.pick:
        best = (max if look.pick == "most" else min)(size for _, _, size, _ in rows)
        rows = [row for row in rows if row[2] == best]
        return answer(
            f"{joined([name for _, name, _, _ in rows[:20]])} ({plural(best, noun)}"
            f"{' each' if len(rows) > 1 else ''}).",
            [value for value, *_ in rows],
            [cite for *_, cite in rows[:_CITED]],
            reading=f"{reading}, and take the {look.pick}",
        )
    held = [row for row in rows if row[2]]
    return answer(
        f"{'; '.join(f'{name}: {size}' for _, name, size, _ in held) or 'None'}.",
        [f"{name}: {size}" for _, name, size, _ in held],
        [cite for *_, cite in held[:_CITED]],
        reading=reading,
    )
