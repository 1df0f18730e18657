"""Answers about one table as a whole: its columns, rows, caption, cells by place, and its pages."""

from __future__ import annotations

from collections.abc import Callable

from kgp_neo4j.structure.answers import Context, answer, each, joined, nothing, plural, table_of
from kgp_neo4j.structure.outline import ColumnOutline, TableOutline
from kgp_neo4j.structures import Citation, StructuralAnswer

__all__ = [
    "around_table",
    "caption",
    "cite_column",
    "columns_of",
    "content_of_table",
    "count_of_table",
    "each_table",
    "is_table_on_page",
    "markdown_of",
    "pages_of_table",
]

#: Rows that are shown of a long table, and cells that are cited.
_SHOWN, _CITED = 40, 50


def each_table(
    context: Context, make: Callable[[Context, TableOutline], StructuralAnswer]
) -> StructuralAnswer:
    """Return what `make` says of each of the tables that the question names."""
    return each(context, context.found.tables, lambda table: make(context, table))


def count_of_table(context: Context) -> StructuralAnswer:
    """How many rows, columns or cells a table has."""
    noun = context.asked.form.removeprefix("count_").rstrip("s")

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        columns = len(table.columns)
        count = {"row": table.rows, "column": columns, "cell": table.rows * columns}[noun]
        said = f"{plural(count, noun)}{' besides its header' if noun == 'row' else ''}"
        return answer(
            f"{table_of(context, table)} has {said}.",
            [count],
            [context.library.cite(table.document, table=table)],
            reading=f"count the {noun}s of {table_of(context, table)}",
        )

    return each_table(context, one)


def columns_of(context: Context) -> StructuralAnswer:
    """The names of a table's columns."""

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        names = [column.header for column in table.columns]
        if not any(names):
            return answer(
                f"{table_of(context, table)} has {plural(len(names), 'column')} without names.",
                [],
                [context.library.cite(table.document, table=table)],
            )
        return answer(
            f"The columns of {table_of(context, table)}: {', '.join(filter(None, names))}.",
            [name for name in names if name],
            [cite_column(context, table, column) for column in table.columns[:_CITED]],
            reading=f"the columns of {table_of(context, table)}",
        )

    return each_table(context, one)


def cite_column(context: Context, table: TableOutline, column: ColumnOutline) -> Citation:
    """Return the citation of a whole column."""
    return context.library.cite(
        table.document,
        table=table,
        column=column.order,
        column_name=column.header,
        text=column.header,
    )


def caption(context: Context) -> StructuralAnswer:
    """A table's caption."""

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
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

    return each_table(context, one)


def markdown_of(context: Context, table: TableOutline, limit: int = _SHOWN) -> tuple[str, str]:
    """Return a table as Markdown, at most `limit` rows, and what was cut ("" if nothing was)."""
    rows = context.library.read("rows", table=table.id, numbers=[], columns=[], limit=limit)
    names = [column.header for column in table.columns]
    lines = [
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"
        for row in (names, *(row["cells"] for row in rows))
    ]
    lines.insert(1, "|" + " --- |" * len(names))
    cut = "" if len(rows) >= table.rows else f"rows 1-{len(rows)} of {table.rows:,} shown"
    return "\n".join(lines), cut


def content_of_table(context: Context) -> StructuralAnswer:
    """A table as it is, with its caption; a long one is cut by rows, and says so."""

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        markdown, cut = markdown_of(context, table)
        where = f" (page {joined(table.pages)})" if len(table.pages) == 1 else ""
        said = f"{table_of(context, table)}{where}"
        said += f": {table.caption}" if table.caption else ""
        size = f"{plural(table.rows, 'row')}, {plural(len(table.columns), 'column')}"
        return answer(
            f"{said} [{size}{f'; {cut}' if cut else ''}]\n\n{markdown}",
            [table.caption or ", ".join(column.name for column in table.columns)],
            [context.library.cite(table.document, table=table)],
            reading=f"the content of {table_of(context, table)}",
            markdown=markdown,
        )

    return each_table(context, one)


def pages_of_table(context: Context) -> StructuralAnswer:
    """The pages that a table stands on, or how many."""

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        cites = [
            context.library.cite(table.document, table=table, page=p) for p in table.pages[:20]
        ]
        if not table.pages:
            return nothing(f"{table_of(context, table)} is in a document without pages.")
        if context.asked.target == "count":
            text = f"{table_of(context, table)} stands on {plural(len(table.pages), 'page')}."
            return answer(text, [len(table.pages)], cites)
        many = "pages" if len(table.pages) > 1 else "page"
        return answer(
            f"{table_of(context, table)} is on {many} {joined(table.pages)}.",
            table.pages,
            cites,
            reading=f"the pages of {table_of(context, table)}",
        )

    return each_table(context, one)


def is_table_on_page(context: Context) -> StructuralAnswer:
    """Whether a table stands on the page that is named with it."""
    on = {(d.id, number) for d, numbers in context.found.pages for number in numbers}

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        held = any((table.document, page) in on for page in table.pages)
        return answer(
            f"{'Yes' if held else 'No'}: {table_of(context, table)} is on "
            f"{'pages' if len(table.pages) > 1 else 'page'} {joined(table.pages or ['none'])}.",
            ["yes" if held else "no"],
            [context.library.cite(table.document, table=table)],
        )

    return each_table(context, one)


def around_table(context: Context) -> StructuralAnswer:
    """What stands before and after a table on its first page, and the sentences that name it."""
    text = context.made.plain.casefold()
    before = any(word in text for word in ("before", "above", "preced", "introduc"))
    after = any(word in text for word in ("after", "below", "follow"))

    def one(context: Context, table: TableOutline) -> StructuralAnswer:
        document = context.library.document(table.document)
        if not table.pages or table.end <= table.start:
            return nothing(f"{table_of(context, table)} stands in no running text.")
        page = context.library.pages(document, [table.pages[0]])[0]
        above = page.text[: max(0, table.start - page.start)].strip().split("\n\n")[-1].strip()
        below = page.text[max(0, table.end - page.start) :].strip().split("\n\n")[0].strip()
        parts = ([above] if before or not after else []) + ([below] if after or not before else [])
        parts = [part for part in parts if part]
        return answer(
            "\n\n".join(parts) or f"Nothing stands there on page {page.number}.",
            parts,
            [context.library.cite(table.document, table=table, page=page.number, text=part)
             for part in parts],
            reading=f"the text around {table_of(context, table)}",
        )  # fmt: skip

    return each_table(context, one)
