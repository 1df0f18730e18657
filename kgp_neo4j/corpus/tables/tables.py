"""Look up tables: the list of them, and one table's rows, columns, cells, caption and pages."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from kgp_neo4j.corpus.load.contents import normal
from kgp_neo4j.corpus.tables.look_up import (
    Context,
    answer,
    by_words,
    each,
    joined,
    nothing,
    plural,
    stems,
)
from kgp_neo4j.corpus.tables.outline import (
    Column,
    TableOutline,
    TableRow,
    cite,
    cite_cell,
    cite_table,
)
from kgp_neo4j.corpus.tables.pages import count_mentions
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.tables import Citation, StructuralAnswer

#: Values shown of a long column, cells and tables that are cited, rows read of a column, at most.
_SHOWN, _CITED, _LISTED = 40, 50, 2_000
#: Names of columns and documents listed, and documents whose pages are counted singly, at most.
_NAMES, _PAGED = 30, 50


def look_up(context: Context) -> StructuralAnswer:
    """Return a part of each named table: its rows, columns, caption, pages, or that it exists."""
    return each(context, context.tables, lambda table: _part(context, table))


def _part(context: Context, table: TableOutline) -> StructuralAnswer:
    part, called, caption, markdown = context.look_up.part, table.called, table.caption, ""
    citations = [cite_table(table)]
    if part == "columns":
        values = [column.header for column in table.columns if column.header]
        none = f"{plural(len(table.columns), 'column')} without names"
        text = f"The columns of {called}: {', '.join(values) or none}."
        citations = [_cite_column(table, column) for column in table.columns[:_CITED]]
    elif part == "caption":
        values = [caption] if caption else []
        none = f"{called} has no caption; its columns are {_names(table)}."
        text = f"The caption of {called}: {caption}" if caption else none
    elif part == "pages":
        values = [*map(str, table.pages)]
        if not values:
            return nothing(f"{called} is in a document without pages.")
        text = f"{called} is on {_on(table.pages)}."
        citations = [cite_table(table, page=page, text="") for page in table.pages[:_CITED]]
    elif part == "exists":
        values = ["yes" if not context.pages or context.on_pages([table]) else "no"]
        text = f"{values[0].capitalize()}: {called} {_listed(table)}"
    else:
        part, markdown = "content", context.library.markdown(table)
        size = f"{plural(table.rows, 'row')}, {plural(len(table.columns), 'column')}"
        text = f"{called} {_listed(table)} [{size}]\n\n{markdown}"
        values = [caption or _names(table)]
    return answer(text, values, citations, reading=f"the {part} of {called}", markdown=markdown)


def _names(table: TableOutline) -> str:
    return ", ".join(column.name for column in table.columns[:_NAMES])


def _find_column(table: TableOutline, name: str) -> Column | None:
    """Return the column of that name: the same except for endings, or the only one like it."""
    wanted = normal(name)
    words = {stem(word) for word in wanted.split()}
    fits: Iterable[Callable[[Column], bool]] = (
        lambda c: c.norm == wanted,
        lambda c: wanted in {normal(part) for part in c.header.split(" / ")},
        lambda c: bool(words) and words <= {stem(word) for word in c.norm.split()},
        lambda c: bool(stems(c.header)) and stems(c.header) == stems(name),
    )
    for fit in fits:
        fitting = [*filter(fit, table.columns)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _chosen_columns(context: Context, table: TableOutline) -> list[Column]:
    if name := context.look_up.column:
        column = _find_column(table, name)
        return [column] if column else []
    places = [at if at > 0 else len(table.columns) + 1 + at for at in context.references.columns]
    return [table.columns[at - 1] for at in places if 1 <= at <= len(table.columns)]


def _no_column(context: Context, table: TableOutline) -> StructuralAnswer:
    name = context.look_up.column
    asked = f"“{name}”" if name else joined(context.references.columns)
    has = f"{plural(len(table.columns), 'column')}: {_names(table)}"
    return nothing(f"{table.called} has no column {asked}; it has {has}.")


def _cite_column(table: TableOutline, column: Column) -> Citation:
    return cite_table(table, column=column.order, column_name=column.header, text=column.header)


def look_up_part(context: Context) -> StructuralAnswer | None:
    """Return a column's name or values, whole rows, or cells; None where no table has that name."""
    look = context.look_up
    part, name = (_column, look.column) if look.kind == "column" else (_cells, look.row)
    result = each(context, context.tables, lambda table: part(context, table))
    return None if name and not result.found else result


def _column(context: Context, table: TableOutline) -> StructuralAnswer:
    columns = _chosen_columns(context, table)
    if not columns:
        return _no_column(context, table)
    if context.look_up.part == "name":
        names = [column.name for column in columns]
        citations = [_cite_column(table, column) for column in columns]
        where = f"{joined([column.order for column in columns])} of {table.called}"
        text = f"Column {where} is “{joined(names)}”."
        return answer(text, names, citations, reading=f"column {where}")
    column = columns[0]
    rows = context.library.rows(table, columns=[column.order], limit=_LISTED)
    filled = [(row, row.cells[0].text) for row in rows if row.cells and row.cells[0].text]
    texts = [text for _, text in filled]
    more = f" … ({len(rows):,} of {table.rows:,} rows)" if len(texts) > _SHOWN else ""
    shown = f"{column.name} in {table.called}: {', '.join(texts[:_SHOWN])}{more}."
    citations = [cite_cell(table, row, column, text) for row, text in filled[:_CITED]]
    reading = f"the values of the column {column.name} of {table.called}"
    return answer(shown, texts, citations, reading=reading)


def _cells(context: Context, table: TableOutline) -> StructuralAnswer:
    some = context.look_up.kind == "cell"
    columns = _chosen_columns(context, table) if some else table.columns
    if not columns:
        return _no_column(context, table)
    numbers, name = context.references.rows, context.look_up.row
    if name:
        first = context.library.rows(table, columns=[1], limit=_LISTED)
        wanted = normal(name)
        numbers = [row.number for row in first for cell in row.cells if cell.norm == wanted]
    orders = [column.order for column in columns]
    rows = context.library.rows(table, numbers=numbers, columns=orders) if numbers else []
    if not rows:
        asked = f"“{name}”" if name else joined(numbers)
        has = f"it has {plural(table.rows, 'row')} besides its header"
        return nothing(f"{table.called} has no row {asked}; {has}.")
    held = [(row, *each) for row in rows for each in zip(columns, row.cells, strict=True)]
    values = [cell.text for _, _, cell in held]
    what = f"row {joined([row.number for row in rows])}"
    if len(columns) == 1:
        lines = [text or "(empty)" for text in values]
    else:
        values = [*filter(None, values)]
        lines = [f"Row {row.number} of {table.called}: {_row(row, columns)}." for row in rows]
    if some:
        what += f", column {joined(orders)}"
    citations = [cite_cell(table, row, column, cell.text) for row, column, cell in held[:_CITED]]
    return answer("\n".join(lines), values, citations, reading=f"{what} of {table.called}")


def _row(row: TableRow, columns: Sequence[Column]) -> str:
    held = [(c, cell.text) for c, cell in zip(columns, row.cells, strict=True) if cell.text]
    return "; ".join(f"{c.name}: {text}" if c.header else text for c, text in held)


def look_up_list(context: Context) -> StructuralAnswer:
    """Return the tables of the documents or pages: all, those with a column, or about something."""
    look = context.look_up
    tables, where = _scope(context)
    if look.column:
        held = [(table, c) for table in tables if (c := _find_column(table, look.column))]
        exact = [table for table, column in held if column.norm == normal(look.column)]
        tables = exact or [table for table, _ in held]
        where += f" with a column “{look.column}”"
    elif look.phrase:
        tables = by_words(context.library, look.phrase, tables)
        where += f" that fit “{look.phrase}”"
    pages = sorted({(table.document.id, page) for table in tables for page in table.pages})
    kinds: dict[str, Sequence[object]] = {
        "exists": ["yes" if tables else "no"],
        "pages": [page for _, page in pages],
        "documents": [*dict.fromkeys(table.document.name for table in tables)],
        "captions": [table.caption or table.name for table in tables],
    }
    values = kinds.get(look.part, [table.name for table in tables])
    if look.kind == "count":
        values = [len(tables)]
    shown, several = tables[:_CITED], len(context.documents) > 1
    lines = [f"- {table.called if several else table.name} {_listed(table)}" for table in shown]
    lines += [f"… and {len(tables) - _CITED} more"] if len(tables) > _CITED else []
    text = "\n".join([f"{plural(len(tables), 'table')} {where}{':' if lines else '.'}", *lines])
    reading = f"{'count ' if look.kind == 'count' else ''}the tables {where}"
    return answer(text, values, [*map(cite_table, shown)], reading=reading)


def _scope(context: Context) -> tuple[list[TableOutline], str]:
    """Return the tables of the documents or pages in question, and that scope in words."""
    tables, where = context.library.tables(context.documents), f"in {context.where}"
    if context.pages:
        tables = context.on_pages(tables)
        where = f"on {_on(sorted({number for _, number in context.places}))} {where}"
    return tables, where


def _listed(table: TableOutline) -> str:
    """Return a table's pages and caption, as it is listed."""
    telling = table.caption and normal(table.caption) != normal(table.name)
    title = table.caption if telling else f"columns {_names(table)}"
    return f"({_on(table.pages)}): {title}" if table.pages else f": {title}"


def _on(pages: Sequence[int]) -> str:
    """Return "page 3", "pages 3 and 5" or "pages 3-5"."""
    if len(pages) > 2 and pages[-1] - pages[0] == len(pages) - 1:
        return f"pages {pages[0]}-{pages[-1]}"
    return f"{'pages' if len(pages) > 1 else 'page'} {joined(pages)}"


def count(context: Context) -> StructuralAnswer | None:
    """Count pages, tables, rows, columns or cells, or the mentions of a phrase."""
    look = context.look_up
    if look.each:
        return _most(context)
    if look.phrase:
        return count_mentions(context)
    if look.part == "tables":
        return look_up_list(context)
    if not context.tables:
        return _count_pages(context) if look.part == "pages" else None
    noun = look.part.removesuffix("s")

    def size(table: TableOutline) -> StructuralAnswer:
        besides = " besides its header" if noun == "row" else ""
        text = f"{table.called} has {plural(_measured(table, noun), noun)}{besides}."
        reading = f"count the {noun}s of {table.called}"
        citations = [cite_table(table, text="")]
        return answer(text, [_measured(table, noun)], citations, reading=reading)

    return each(context, context.tables, size)


def _measured(table: TableOutline, noun: str) -> int:
    columns = len(table.columns)
    sizes = {"row": table.rows, "column": columns, "page": len(table.pages)}
    return sizes.get(noun, table.rows * columns)


def _count_pages(context: Context) -> StructuralAnswer:
    documents = context.paged
    if not documents:
        return nothing(f"No pages are known of {context.where} (the format has none).")
    context.library.read("structure/documents", corpus=context.library.corpus)
    values = [document.pages for document in documents]
    text = "; ".join(f"{d.name} has {plural(d.pages, 'page')}" for d in documents[:_NAMES])
    if not context.named:
        values = [sum(values)]
        text = f"{plural(values[0], 'page')} in all: {text}"
    citations = [*map(cite, documents[:_CITED])]
    return answer(f"{text}.", values, citations, reading="count the pages of documents")


def _most(context: Context) -> StructuralAnswer:
    look = context.look_up
    noun = look.part.removesuffix("s")
    tables, where = _scope(context)
    if look.each == "table":
        sized = [(_measured(t, noun), t.name, t.called, cite_table(t)) for t in tables]
    elif look.each == "document":
        held = "pages" if noun == "page" else "tables"
        sized = [(getattr(d, held), d.name, d.name, cite(d)) for d in context.documents]
    else:
        on = Counter((table.document.id, page) for table in tables for page in table.pages)
        places = [(d, n) for d in context.paged[:_PAGED] for n in range(1, d.pages + 1)]
        sized = [(on[d.id, n], str(n), f"page {n} of {d.name}", cite(d, page=n)) for d, n in places]
    if not sized:
        return nothing(f"There is no {look.each} {where}.")
    best = (min if look.pick == "fewest" else max)(size for size, *_ in sized)
    values, names, cited = zip(*(one for size, *one in sized if size == best), strict=True)
    each_ = " each" if len(values) > 1 else ""
    text = f"{joined(names[:_NAMES])} ({plural(best, noun)}{each_})."
    reading = f"count the {noun}s of each {look.each} {where}, and take the {look.pick}"
    return answer(text, values, cited[:_CITED], reading=reading)
