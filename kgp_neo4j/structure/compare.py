"""Answers that compare: two pages, two tables, or a page and a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kgp_neo4j.load.grid import normal
from kgp_neo4j.structure.answers import Context, answer, joined, nothing, plural, table_of
from kgp_neo4j.structure.language import content
from kgp_neo4j.structure.outline import DocumentOutline, PageText, TableOutline
from kgp_neo4j.structure.page_text import headings, page_sentences, word_count
from kgp_neo4j.structures import StructuralAnswer

__all__ = ["compare_page_and_table", "compare_pages", "compare_tables"]

_TERMS, _SENTENCES = 10, 3


def compare_pages(context: Context) -> StructuralAnswer:
    """What distinguishes pages: size, headings, tables, words and sentences that only one has."""
    held: list[tuple[DocumentOutline, PageText]] = []
    for document, numbers in context.found.pages:
        held += [(document, page) for page in context.library.pages(document, numbers)]
    held = list({(d.id, page.number): (d, page) for d, page in held}.values())
    if len(held) < 2:
        return nothing("Two pages are needed for a comparison, and one is there.")
    held = held[:4]
    several = len({document.id for document, _ in held}) > 1
    names = [
        f"page {page.number}{f' of {document.title}' if several else ''}" for document, page in held
    ]
    words = [Counter(content(page.text)) for _, page in held]
    said = [{normal(sentence) for sentence in page_sentences(page.text)} for _, page in held]
    lines = []
    only_terms: list[str] = []
    for at, (document, page) in enumerate(held):
        others = Counter[str]()
        for other, counts in enumerate(words):
            if other != at:
                others |= counts
        terms = _telling(words[at], others)
        only_terms += terms
        tables = [t for t in context.library.tables([document]) if page.number in t.pages]
        heads = headings(page.text)[:6]
        sentences = [
            sentence
            for sentence in page_sentences(page.text)
            if all(normal(sentence) not in said[o] for o in range(len(held)) if o != at)
        ]
        lines.append(
            f"{names[at].capitalize() if not several else names[at]}: "
            f"{plural(word_count(page.text), 'word')}, "
            + (joined([t.name for t in tables]) if tables else "no table")
            + (f"; headings: {'; '.join(heads)}" if heads else "")
            + (f"; only here: {', '.join(terms)}" if terms else "")
            + (f"; begins: “{sentences[0][:200]}”" if sentences else "")
            + "."
        )
    common = set.intersection(*(set(counts) for counts in words))
    shared = sorted(common, key=lambda w: (-min(counts[w] for counts in words), w))[:_TERMS]
    lines.append(f"Both speak of: {', '.join(shared)}." if shared else "They share no word.")
    same = set.intersection(*said)
    if same:
        lines.append(
            f"{plural(len(same), 'sentence')} stand{'s' if len(same) == 1 else ''} on both."
        )
    return answer(
        "\n".join(lines),
        only_terms,
        [context.library.cite(d.id, page=page.number, label=page.label) for d, page in held],
        reading=f"compare {joined(names)}",
        markdown="\n\n".join(
            f"## {name}\n\n{page.text.strip()}" for name, (_, page) in zip(names, held, strict=True)
        ),
    )


def _telling(own: Counter[str], others: Counter[str]) -> list[str]:
    """Return the words that one page has and the others have not, the most frequent first."""
    only = [word for word in own if word not in others and len(word) > 3 and not word.isdigit()]
    return sorted(only, key=lambda word: (-own[word], -len(word), word))[:_TERMS]


def compare_tables(context: Context) -> StructuralAnswer:
    """Columns or rows that tables have in common, or what distinguishes the tables as wholes."""
    tables = context.found.tables[:4]
    if len(tables) < 2:
        return nothing("Two tables are needed for a comparison, and one is there.")
    form = context.asked.form
    cites = [context.library.cite(t.document, table=t, text=t.caption) for t in tables]
    names = joined([table_of(context, t) for t in tables])
    columns = [{c.norm: c.name for c in table.columns if c.norm} for table in tables]
    common = [n for norm, n in columns[0].items() if all(norm in own for own in columns[1:])]
    if form == "common_columns":
        text = (
            f"{names} have {plural(len(common), 'column')} in common: {', '.join(common)}."
            if common
            else f"{names} have no column in common: {_apart(context, tables)}."
        )
        return answer(text, common, cites, reading=f"columns in common of {names}")
    rows = [_first_cells(context, table) for table in tables]
    both = [text for norm, text in rows[0].items() if all(norm in own for own in rows[1:])]
    if form == "common_rows":
        text = (
            f"{names} have {plural(len(both), 'row')} in common by their first cells: "
            f"{', '.join(both[:50])}."
            if both
            else f"{names} have no row in common, by their first cells."
        )
        return answer(text, both, cites, reading=f"rows in common of {names}")
    different = [
        name for at, own in enumerate(columns) for norm, name in own.items()
        if any(norm not in other for o, other in enumerate(columns) if o != at)
    ]  # fmt: skip
    sizes = "; ".join(
        f"{table_of(context, t)}{f' (“{t.caption}”)' if t.caption else ''}: "
        f"{plural(t.rows, 'row')}, {plural(len(t.columns), 'column')}"
        for t in tables
    )
    text = (
        f"{sizes}.\nColumns in common: {', '.join(common) or 'none'}; otherwise "
        f"{_apart(context, tables)}.\nRows in common by their first cells: "
        f"{', '.join(both[:20]) or 'none'}."
    )
    return answer(text, different, cites, reading=f"compare {names}")


def _apart(context: Context, tables: Sequence[TableOutline]) -> str:
    return "; ".join(
        f"{table.name} has {', '.join(column.name for column in table.columns[:20])}"
        for table in tables
    )


def _first_cells(context: Context, table: TableOutline) -> dict[str, str]:
    rows = context.library.read("rows", table=table.id, numbers=[], columns=[1], limit=5_000)
    texts = [row["cells"][0] for row in rows if row["cells"] and row["cells"][0]]
    return {normal(text): text for text in texts if normal(text)}


def compare_page_and_table(context: Context) -> StructuralAnswer:
    """What a page and a table have in common and not, by their words; with both of them to see."""
    document, numbers = context.found.pages[0]
    page = context.library.pages(document, numbers[:1])[0]
    table = context.found.tables[0]
    rows = context.library.read("rows", table=table.id, numbers=[], columns=[], limit=500)
    cells = Counter(
        word
        for text in (*(c.header for c in table.columns), *(c for r in rows for c in r["cells"]))
        for word in content(text)
    )
    words = Counter(content(page.text))
    stands = "stands on this page" if page.number in table.pages else (
        f"stands on page {joined(table.pages)}" if table.pages else "stands on no page"
    )  # fmt: skip
    shared = [word for word, _ in (words & cells).most_common(_TERMS)]
    return answer(
        f"Page {page.number} of {document.title} has {plural(word_count(page.text), 'word')}"
        f"{_heads(page)}; it alone speaks of {', '.join(_telling(words, cells)) or 'nothing'}.\n"
        f"{table_of(context, table)}{f' (“{table.caption}”)' if table.caption else ''} {stands} "
        f"and has "
        f"{plural(table.rows, 'row')} with the columns {', '.join(c.name for c in table.columns)}; "
        f"it alone has {', '.join(_telling(cells, words)) or 'nothing'}.\n"
        f"Both speak of: {', '.join(shared) or 'nothing'}.",
        [],
        [
            context.library.cite(document.id, page=page.number, label=page.label),
            context.library.cite(table.document, table=table, text=table.caption),
        ],
        reading=f"compare page {page.number} with {table_of(context, table)}",
        markdown=page.text.strip(),
    )


def _heads(page: PageText) -> str:
    heads = headings(page.text)[:_SENTENCES]
    return f" under {'; '.join(heads)}" if heads else ""
