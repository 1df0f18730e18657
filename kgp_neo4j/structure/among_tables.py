"""Answers about which tables there are: on pages, with a column, about something, or largest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from kgp_neo4j.load.grid import normal
from kgp_neo4j.structure.about_cells import find_column
from kgp_neo4j.structure.answers import Context, answer, joined, nothing, plural, table_of
from kgp_neo4j.structure.outline import TableOutline
from kgp_neo4j.structure.resolving import by_words
from kgp_neo4j.structures import Citation, StructuralAnswer

__all__ = [
    "captions",
    "count_tables",
    "documents_with_table",
    "extreme_table",
    "is_there_a_table",
    "is_there_such_a_table",
    "list_tables",
    "pages_with_tables",
    "tables_about",
    "tables_per_page",
    "tables_with_column",
]

_CITED = 50


def _scope(context: Context) -> tuple[list[TableOutline], str]:
    """Return the tables of the documents or pages in question, and where that is in words."""
    tables = context.library.tables(context.found.documents)
    titles = [document.title for document in context.found.documents]
    where = f"in {joined(titles[:3])}" if len(titles) <= 3 else "in the corpus"
    if context.found.pages:
        on = {(d.id, number) for d, numbers in context.found.pages for number in numbers}
        tables = [t for t in tables if any((t.document, page) in on for page in t.pages)]
        numbers = sorted({number for _, number in on})
        pages = f"page {numbers[0]}" if len(numbers) == 1 else f"pages {joined(numbers)}"
        held = {document.title for document, _ in context.found.pages}
        where = f"on {pages}{f' of {joined(sorted(held))}' if len(held) <= 3 else ''}"
    return tables, where


def _named(context: Context, table: TableOutline) -> str:
    """Return a table with its page and caption, as a list shows it."""
    several = len(context.found.documents) > 1
    name = table_of(context, table) if several else table.name
    pages = f" ({'pages' if len(table.pages) > 1 else 'page'} {_run(table.pages)})"
    said = table.caption if table.caption and normal(table.caption) != normal(table.name) else ""
    if not said:
        said = "columns " + ", ".join(column.name for column in table.columns[:8])
    return f"{name}{pages if table.pages else ''}: {said}"


def _run(pages: Sequence[int]) -> str:
    if len(pages) > 2 and pages[-1] - pages[0] == len(pages) - 1:
        return f"{pages[0]}-{pages[-1]}"
    return joined(pages)


def _cites(context: Context, tables: Sequence[TableOutline]) -> list[Citation]:
    return [
        context.library.cite(table.document, table=table, text=table.caption)
        for table in tables[:_CITED]
    ]


def _lines(context: Context, tables: Sequence[TableOutline]) -> str:
    shown = "\n".join(f"- {_named(context, table)}" for table in tables[:_CITED])
    more = len(tables) - _CITED
    return f"{shown}\n… and {more} more" if more > 0 else shown


def count_tables(context: Context) -> StructuralAnswer:
    """How many tables the documents or pages have."""
    tables, where = _scope(context)
    said = f"There {'is' if len(tables) == 1 else 'are'} {plural(len(tables), 'table')} {where}"
    return answer(
        f"{said}:\n{_lines(context, tables)}" if tables else f"There is no table {where}.",
        [len(tables)],
        _cites(context, tables),
        reading=f"count the tables {where}",
    )


def is_there_a_table(context: Context) -> StructuralAnswer:
    """Whether there is a table in the documents or on the pages."""
    tables, where = _scope(context)
    said = f"Yes, {plural(len(tables), 'table')} {where}:\n{_lines(context, tables)}"
    return answer(
        said if tables else f"No, there is no table {where}.",
        ["yes" if tables else "no"],
        _cites(context, tables),
        reading=f"whether there is a table {where}",
    )


def list_tables(context: Context) -> StructuralAnswer:
    """Which tables the documents or pages have."""
    return _listed(context, lambda table: table.name, "list the tables")


def captions(context: Context) -> StructuralAnswer:
    """The captions of all tables of the documents or pages."""
    return _listed(context, lambda t: t.caption or t.name, "the captions of the tables")


def _listed(
    context: Context, value: Callable[[TableOutline], str], reading: str
) -> StructuralAnswer:
    tables, where = _scope(context)
    return answer(
        f"The tables {where}:\n{_lines(context, tables)}"
        if tables
        else f"There is no table {where}.",
        [value(table) for table in tables],
        _cites(context, tables),
        reading=f"{reading} {where}",
    )


def tables_with_column(context: Context) -> StructuralAnswer:
    """Which tables have a column of that name, or how many."""
    counting = context.asked.target.startswith("#")
    name = context.asked.target.removeprefix("#")
    tables, where = _scope(context)
    found = [(table, column) for table in tables if (column := find_column(table, name))]
    exact = [(table, column) for table, column in found if column.norm == normal(name)]
    found = exact or found
    if not found:
        return answer(
            f"No table {where} has a column “{name}”.",
            ["0"] if counting else [],
            reading=f"tables {where} with a column “{name}”",
        )
    listed = _lines(context, [table for table, _ in found])
    return answer(
        f"{plural(len(found), 'table')} {where} with a column “{name}”:\n{listed}",
        [len(found)] if counting else [table.name for table, _ in found],
        [
            context.library.cite(
                table.document, table=table, column=column.order, column_name=column.header
            )
            for table, column in found[:_CITED]
        ],
        reading=f"tables {where} with a column “{name}”",
    )


def tables_about(context: Context) -> StructuralAnswer:
    """Which tables the question's words fit, by caption, headers and cells."""
    tables, where = _scope(context)
    found = by_words(context.library, context.made.rest, tables)
    if not found:
        return nothing(f"No table {where} fits. The tables are:\n{_lines(context, tables)}")
    return answer(
        f"{_lines(context, found)}",
        [table.name for table in found],
        _cites(context, found),
        reading=f"tables {where} whose caption, columns or cells fit the question",
    )


def documents_with_table(context: Context) -> StructuralAnswer:
    """Which documents have tables at all, or one that the question's words fit."""
    tables, where = _scope(context)
    found = tables
    if context.asked.target:
        found = by_words(context.library, context.asked.target, tables)
    titles = list(dict.fromkeys(context.library.document(t.document).title for t in found))
    if not titles:
        return nothing(f"No document has such a table. The tables are:\n{_lines(context, tables)}")
    return answer(
        f"{joined(titles)}:\n{_lines(context, found)}",
        titles,
        _cites(context, found),
        reading=f"documents {where} with a table {context.asked.target and 'that fits'}".rstrip(),
    )


def tables_per_page(context: Context) -> StructuralAnswer:
    """How many tables each page has, the pages without any left out."""
    tables, where = _scope(context)
    counts = Counter(
        (context.library.document(table.document), page) for table in tables for page in table.pages
    )
    several = len({document.id for document, _ in counts}) > 1
    ordered = sorted(counts.items(), key=lambda item: (item[0][0].title, item[0][1]))
    lines = [
        f"page {page}{f' of {document.title}' if several else ''}: {count}"
        for (document, page), count in ordered
    ]
    return answer(
        f"Tables {where}, by page: {'; '.join(lines) or 'none'}. The other pages have none.",
        [f"page {page}: {count}" for (_, page), count in ordered],
        _cites(context, tables),
        reading=f"count the tables of each page {where}",
    )


def is_there_such_a_table(context: Context) -> StructuralAnswer:
    """That a table which the question names exists, and where."""
    tables = context.found.tables
    return answer(
        f"Yes:\n{_lines(context, tables)}",
        ["yes"],
        _cites(context, tables),
        reading="whether there is such a table",
    )


def pages_with_tables(context: Context) -> StructuralAnswer:
    """Which pages have tables, or have none, or how many do."""
    tables = context.library.tables(context.found.documents)
    without = context.asked.target == "none"
    held: list[tuple[str, str, int]] = []
    for document in context.found.documents:
        pages = {page for table in tables if table.document == document.id for page in table.pages}
        if without:
            pages = set(range(1, document.pages + 1)) - pages
        held += [(document.id, document.title, page) for page in sorted(pages)]
    several = len(context.found.documents) > 1
    reading = f"pages with{'out' if without else ''} tables"
    if not held:
        return answer("No page has a table." if not without else "Every page has a table.", ["0"]
                      if context.asked.target == "count" else [], reading=reading)  # fmt: skip
    listed = joined([f"{page} of {title}" if several else page for _, title, page in held])
    cites = [context.library.cite(id_, page=page) for id_, _, page in held[:_CITED]]
    count = context.asked.target == "count"
    text = f"{plural(len(held), 'page')} with{'out' if without else ''} tables: {listed}."
    return answer(
        text, [len(held)] if count else [page for *_, page in held], cites, reading=reading
    )


def extreme_table(context: Context) -> StructuralAnswer:
    """The table with most or fewest rows, columns or cells."""
    by = context.asked.form.removeprefix("table_by_")
    least = context.asked.target == "least"
    tables, where = _scope(context)
    if not tables:
        return nothing(f"There is no table {where}.")

    def size(table: TableOutline) -> int:
        if by == "page":
            return len(table.pages)
        columns = len(table.columns)
        return {"row": table.rows, "column": columns}.get(by, table.rows * columns)

    best = (min if least else max)(size(table) for table in tables)
    chosen = [table for table in tables if size(table) == best]
    noun = by if by in ("row", "column", "page") else "cell"
    return answer(
        f"{joined([_named(context, table) for table in chosen[:10]])} ({plural(best, noun)}).",
        [table.name for table in chosen],
        _cites(context, chosen),
        reading=f"the table {where} with the {'fewest' if least else 'most'} {noun}s",
    )
