"""Compare two pages, two tables, or a page and a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kgp_neo4j.corpus.tables.look_up import Context, answer, joined, nothing, plural, table_of
from kgp_neo4j.corpus.tables.outline import DocumentOutline, PageText, TableOutline
from kgp_neo4j.corpus.tables.page_text import headings, word_count
from kgp_neo4j.corpus.tables.references import content
from kgp_neo4j.types.tables import Citation, StructuralAnswer

__all__ = ["compare"]

_TERMS, _MOST = 10, 4


@dataclass(frozen=True, slots=True)
class Compared:
    """A page or a table: its name, its size in words, its words, and a table's columns."""

    name: str
    size: str
    words: Counter[str]
    cite: Citation
    markdown: str = ""
    columns: dict[str, str] = field(default_factory=dict)


def compare(context: Context) -> StructuralAnswer:
    """Return what is on one page, or in one table, alone, and what both have in common.

    The values are the words that only one has; for tables, the columns that not all have, or those
    that all have where the question asks for them.
    """
    found = [
        _page(context, document, page)
        for document, numbers in context.found.pages
        for page in context.library.pages(document, numbers)
    ]
    found += [_table(context, table) for table in context.found.tables]
    found = list({(c.cite.document, c.cite.table, c.name): c for c in found}.values())[:_MOST]
    if len(found) < 2:
        return nothing("Two pages or tables are needed for a comparison, and one is there.")
    names = joined([each.name for each in found])
    cites = [each.cite for each in found]
    shared = {
        norm: name
        for norm, name in found[0].columns.items()
        if all(norm in each.columns for each in found[1:])
    }
    columns = f"Columns in common: {', '.join(shared.values()) or 'none'}."
    if context.look_up.part == "columns":
        reading = f"columns in common of {names}"
        return answer(f"{names}. {columns}", [*shared.values()], cites, reading=reading)
    lines, only = [], []
    for each in found:
        others: Counter[str] = Counter()
        for other in found:
            if other is not each:
                others |= other.words
        own = _telling(each.words, others)
        only += own
        here = f"; only here: {', '.join(own)}" if own else ""
        lines.append(f"{each.name}: {each.size}{here}.")
    both = set.intersection(*(set(each.words) for each in found))
    common = sorted(both, key=lambda word: (-min(c.words[word] for c in found), word))[:_TERMS]
    lines.append(f"Both speak of: {', '.join(common)}." if common else "They share no word.")
    if all(each.columns for each in found):
        lines.append(columns)
        only = [n for each in found for norm, n in each.columns.items() if norm not in shared]
    return answer(
        "\n".join(lines),
        only,
        cites,
        reading=f"compare {names}",
        markdown="\n\n".join(f"## {c.name}\n\n{c.markdown}" for c in found if c.markdown),
    )


def _page(context: Context, document: DocumentOutline, page: PageText) -> Compared:
    tables = [t.name for t in context.library.tables([document]) if page.number in t.pages]
    heads = headings(page.text)[:6]
    return Compared(
        f"Page {page.number} of {document.title}",
        f"{plural(word_count(page.text), 'word')}, {joined(tables) if tables else 'no table'}"
        + (f"; headings: {'; '.join(heads)}" if heads else ""),
        Counter(content(page.text)),
        context.library.cite(document.id, page=page.number, label=page.label),
        page.text.strip(),
    )


def _table(context: Context, table: TableOutline) -> Compared:
    rows = context.library.read("rows", table=table.id, numbers=[], columns=[], limit=500)
    texts = [*(c.header for c in table.columns), *(cell for row in rows for cell in row["cells"])]
    where = f" on page {joined(table.pages)}" if table.pages else ""
    return Compared(
        table_of(context, table),
        f"{plural(table.rows, 'row')}{where} with the columns "
        f"{', '.join(column.name for column in table.columns[:20])}",
        Counter(word for text in texts for word in content(text)),
        context.library.cite(table.document, table=table, text=table.caption),
        columns={column.norm: column.name for column in table.columns if column.norm},
    )


def _telling(own: Counter[str], others: Counter[str]) -> list[str]:
    """Return the words that one has and the others lack, the most frequent first."""
    only = [word for word in own if word not in others and len(word) > 3 and not word.isdigit()]
    return sorted(only, key=lambda word: (-own[word], -len(word), word))[:_TERMS]
