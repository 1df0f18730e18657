"""Look up pages, their margins, headings and phrases on them; compare them, and tables, too."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kgp_neo4j.corpus.tables.look_up import Context, answer, each, joined, nothing, plural, unsure
from kgp_neo4j.corpus.tables.outline import DocumentOutline, Page, cite, cite_table
from kgp_neo4j.types.tables import Citation, StructuralAnswer

#: Pages that an answer cites at most, and characters around a phrase in an excerpt.
_CITED, _AROUND = 40, 80


def look_up(context: Context) -> StructuralAnswer:
    """Return a part of the named pages, or of every page of the documents where none is named."""
    pages = _pages(context, context.pages or [(document, ()) for document in context.paged])
    if not pages:
        return nothing("There are no pages.")
    # A range of one document is meant as a whole, however long it is.
    context.named |= len({page.document for page in pages}) == 1
    several = len(pages) > 1
    return each(context, pages, lambda page: _page(page, context.look_up.part, several))


def _pages(context: Context, wanted: Sequence[tuple[DocumentOutline, Sequence[int]]]) -> list[Page]:
    read = context.library.pages
    return [page for document, numbers in wanted for page in read([document], numbers=[*numbers])]


def _page(page: Page, part: str, several: bool) -> StructuralAnswer:
    where = f"page {page.number} of {page.document.name}"
    if part not in ("header", "footer", "label", "headings"):
        text = page.text.strip()
        shown = text or "(no text: the page is empty, or an image)"
        headed = f"Page {page.number} of {page.document.name}:\n\n{shown}" if several else shown
        reading = f"the text of {where}"
        return answer(headed, [text] * bool(text), [_cite(page)], reading=reading, markdown=shown)
    name = "printed page number" if part == "label" else part
    values = page.headings if part == "headings" else [getattr(page, part).strip()]
    values = [*filter(None, values)]
    none = "" if several else f"No {name} can be told on {where}."
    text = f"The {name} on {where}: {'; '.join(values)}" if values else none
    citations = [_cite(page, value) for value in values or [""]]
    return answer(text, values, citations, reading=f"the {name} of {where}")


class _Hit(NamedTuple):
    """A page with a phrase: how often, and the words around the first occurrence."""

    page: Page
    times: int
    text: str


def look_up_mentions(context: Context) -> StructuralAnswer:
    """Return the pages with a phrase, the first or last of them, or whether there are any."""
    part = context.look_up.part
    phrase, hits = _hits(context)
    if part == "exists" and context.pages:
        held = _on_named_pages(context, hits)
        pages = joined([f"page {n}" for n in sorted({number for _, number in context.places})])
        other = f"; it is on {_where(context, hits)}" if hits else " nor does any other page"
        value, text = "no", f"No: {pages} does not mention “{phrase}”{other}."
        if held:
            value, text = "yes", f"Yes: {pages} mentions “{phrase}”: {held[0].text}"
        reading = f"whether {pages} has “{phrase}”"
        return answer(text, [value], _cites(held or hits), reading=reading)
    order = f"{part} " if part in ("first", "last") else ""
    reading = f"the {order}pages whose text has “{phrase}”"
    if not hits:
        return answer(f"No page of {context.where} mentions “{phrase}”.", reading=reading)
    if order:
        ends = {hit.page.document: hit for hit in (hits if part == "last" else reversed(hits))}
        hits = sorted(ends.values(), key=lambda hit: hit.page.document.name)
    text = f"“{phrase}” is {order}mentioned on {_where(context, hits)}."
    values = ["yes"] if part == "exists" else [str(hit.page.number) for hit in hits]
    return answer(text, values, _cites(hits), reading=reading)


def count_mentions(context: Context) -> StructuralAnswer:
    """Return how many pages have a phrase, or how often it occurs, on the named pages or on all."""
    phrase, hits = _hits(context)
    if context.pages:
        hits = _on_named_pages(context, hits)
    times = context.look_up.part == "times"
    total = sum(hit.times for hit in hits) if times else len(hits)
    size = plural(total, "time") if times else f"on {plural(total, 'page')}"
    where = f" ({_where(context, hits)})" if hits else ""
    reading = f"count {'how often' if times else 'the pages where'} the text has “{phrase}”"
    return answer(f"“{phrase}” is mentioned {size}{where}.", [total], _cites(hits), reading=reading)


def _hits(context: Context) -> tuple[str, list[_Hit]]:
    """Return the phrase searched for, and its pages with the number of occurrences."""
    phrase = context.look_up.phrase
    tries = [phrase]
    # Without quotation marks an article or a plural's ending is dropped where that finds more.
    if not context.references.quoted:
        bare = re.sub(r"^(?:the|a|an|any)\s+", "", phrase, flags=re.IGNORECASE)
        tries += [bare, bare[:-1] if bare.endswith("s") else f"{bare}s"]
    for attempt in dict.fromkeys(filter(None, tries)):
        # As whole words: in any case, over any white space.
        parts = r"(?:\s|\\?\||\*)+".join(map(re.escape, attempt.split()))
        before = r"(?<![^\W_])" if attempt[:1].isalnum() else ""
        after = r"(?![^\W_])" if attempt[-1:].isalnum() else ""
        pattern = re.compile(before + parts + after, re.IGNORECASE)
        words = sorted(set(re.findall(r"[^\W_]+", attempt.lower()))) or [attempt.lower()]
        hits = []
        for page in context.library.pages(context.paged, words=words):
            text = "\n".join((page.header, page.text, page.footer))
            if matches := list(pattern.finditer(text)):
                start, end = max(0, matches[0].start() - _AROUND), matches[0].end() + _AROUND
                around = " ".join(text[start:end].split())
                excerpt = f"{'…' if start else ''}{around}{'…' if end < len(text) else ''}"
                hits.append(_Hit(page, len(matches), excerpt))
        if hits:
            return attempt, hits
    return phrase, []


def _on_named_pages(context: Context, hits: list[_Hit]) -> list[_Hit]:
    on = context.places
    return [hit for hit in hits if (hit.page.document.id, hit.page.number) in on]


def _cites(hits: list[_Hit]) -> list[Citation]:
    return [_cite(hit.page, hit.text) for hit in hits[:_CITED]]


def _where(context: Context, hits: list[_Hit]) -> str:
    """Return "pages 1, 3 and 4", by document where there are several."""
    by_document: dict[str, list[int]] = {}
    for hit in hits:
        by_document.setdefault(hit.page.document.name, []).append(hit.page.number)
    several = len(context.documents) > 1
    return "; ".join(
        f"{'page' if len(numbers) == 1 else 'pages'} {joined(numbers)}"
        + (f" of {title}" if several else "")
        for title, numbers in by_document.items()
    )


#: Rows of a table that are shown beside others, and things compared, at most.
_ROWS, _MOST = 500, 4


def compare(context: Context) -> StructuralAnswer:
    """Return the columns that all the named tables have, or pages and tables one after another."""
    tables = context.tables
    if context.look_up.part == "columns" and len(tables) > 1:
        names = joined([table.called for table in tables])
        norms = set.intersection(*({c.norm for c in table.columns if c.norm} for table in tables))
        shared = [column.name for column in tables[0].columns if column.norm in norms]
        text = f"{names}. Columns in common: {', '.join(shared) or 'none'}."
        citations = [*map(cite_table, tables)]
        return answer(text, shared, citations, reading=f"columns in common of {names}")
    every = [
        (f"Page {page.number} of {page.document.name}", page.text.strip(), _cite(page))
        for page in _pages(context, context.pages)
    ]
    every += [(t.called, context.library.markdown(t, _ROWS), cite_table(t)) for t in tables]
    shown = list({each[2]: each for each in every}.values())[:_MOST]
    if len(shown) < 2:
        return nothing("Two pages or tables are needed for a comparison, and one is there.")
    return replace(
        unsure("they are shown; to tell how they differ needs a language model"),
        reading=f"compare {joined([name for name, _, _ in shown])}",
        citations=tuple(citation for _, _, citation in shown),
        markdown="\n\n".join(f"## {name}\n\n{text}" for name, text, _ in shown),
    )


def _cite(page: Page, text: str = "") -> Citation:
    return cite(page.document, page=page.number, label=page.label, text=text)
