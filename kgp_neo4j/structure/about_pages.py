"""Answers about pages: what they say, their margins and headings, and how many there are."""

from __future__ import annotations

from dataclasses import replace

from kgp_neo4j.structure.answers import Context, answer, each, joined, nothing, plural
from kgp_neo4j.structure.outline import DocumentOutline, PageText
from kgp_neo4j.structure.page_text import (
    headings,
    is_heading,
    page_sentences,
    paragraphs,
    word_count,
)
from kgp_neo4j.structures import StructuralAnswer

__all__ = [
    "content_of_page",
    "count_of_page",
    "count_pages",
    "extreme_page",
    "headings_of_document",
    "margin_of_page",
    "part_of_page",
]

Target = tuple[DocumentOutline, tuple[int, ...]]
_MOST_PAGES = 30


def _each_page(context: Context, make: object) -> StructuralAnswer:
    pages = [
        (document, page)
        for document, numbers in context.found.pages
        for page in context.library.pages(document, numbers)
    ]
    if len({document.id for document, _ in pages}) == 1 and pages:
        # A range of one document, however long, is meant as a whole.
        context.found.named = True
    return each(context, pages, lambda item: make(context, *item))  # type: ignore[operator]


def count_pages(context: Context) -> StructuralAnswer:
    """How many pages the documents have."""
    paged = [document for document in context.found.documents if document.pages]
    if not paged:
        titles = joined([d.title for d in context.found.documents[:3]] or ["The corpus"])
        return nothing(f"{titles}: no pages are known (the format has none).")

    def one(document: DocumentOutline) -> StructuralAnswer:
        return answer(
            f"{document.title} has {plural(document.pages, 'page')}.",
            [document.pages],
            [context.library.cite(document.id)],
            reading=f"count the pages of {document.title}",
        )

    context.library.read("documents", corpus=context.library.corpus)
    if len(paged) > 1 and not context.found.named:
        total = sum(document.pages for document in paged)
        listed = "; ".join(f"{d.title}: {d.pages}" for d in paged[:20])
        return answer(
            f"{plural(len(paged), 'document')} have {plural(total, 'page')} in all ({listed}).",
            [total],
            [context.library.cite(document.id) for document in paged[:20]],
            reading="count the pages of all documents",
        )
    return each(context, paged, one)


def content_of_page(context: Context) -> StructuralAnswer:
    """What a page says, in full."""

    def one(context: Context, document: DocumentOutline, page: PageText) -> StructuralAnswer:
        text = page.text.strip()
        said = text or "(no text: the page is empty, or an image)"
        head = f"Page {page.number} of {document.title}:\n\n" if many else ""
        return answer(
            f"{head}{said}",
            [text] if text else [],
            [context.library.cite(document.id, page=page.number, label=page.label)],
            reading=f"the text of page {page.number} of {document.title}",
            markdown=said,
        )

    many = sum(len(numbers) for _, numbers in context.found.pages) > 1
    return _each_page(context, one)


def margin_of_page(context: Context) -> StructuralAnswer:
    """A page's header, its footer, or its number as printed."""
    kind = context.asked.form.removesuffix("_of_page")

    def one(context: Context, document: DocumentOutline, page: PageText) -> StructuralAnswer:
        said = {"header": page.header, "footer": page.footer, "label": page.label}[kind].strip()
        name = {"label": "printed page number"}.get(kind, kind)
        where = f"Page {page.number} of {document.title}"
        cite = context.library.cite(document.id, page=page.number, label=page.label, text=said)
        return answer(
            f"{where} has the {name} “{said}”." if said else f"{where} has no {name}.",
            [said] if said else [],
            [cite],
            reading=f"the {name} of page {page.number} of {document.title}",
        )

    return _each_page(context, one)


def part_of_page(context: Context) -> StructuralAnswer:
    """The first or last sentence, line, word, paragraph or heading of a page; or all headings."""
    place, _, _ = context.asked.form.partition("_")
    unit = context.asked.target or "sentence"

    def one(context: Context, document: DocumentOutline, page: PageText) -> StructuralAnswer:
        parts = _parts(page.text, "heading" if place == "headings" else unit)
        where = f"page {page.number} of {document.title}"
        if not parts:
            return answer(
                f"{where.capitalize()} has no {unit if place != 'headings' else 'heading'}."
            )
        chosen = parts if place == "headings" else [parts[0 if place == "first" else -1]]
        cites = [
            context.library.cite(document.id, page=page.number, label=page.label, text=part)
            for part in chosen
        ]
        if place == "headings":
            listed = "; ".join(chosen)
            made = answer(
                f"The headings on {where}: {listed}.",
                chosen,
                cites,
                reading=f"headings of {where}, as far as the shape of its lines tells them",
            )
            return replace(made, confidence=0.6)
        return answer(chosen[0], chosen, cites, reading=f"the {place} {unit} of {where}")

    return _each_page(context, one)


def _parts(text: str, unit: str) -> list[str]:
    if unit == "sentence":
        return page_sentences(text)
    if unit == "heading":
        return headings(text)
    if unit == "paragraph":
        return [part for part in paragraphs(text) if not is_heading(part)] or paragraphs(text)
    if unit == "line":
        return [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    return text.split()


def count_of_page(context: Context) -> StructuralAnswer:
    """How many words, characters, sentences, paragraphs, lines or headings a page has."""
    unit = context.asked.form.removeprefix("count_").removesuffix("s_of_page")
    unit = {"letter": "character", "section": "heading"}.get(unit, unit)

    def one(context: Context, document: DocumentOutline, page: PageText) -> StructuralAnswer:
        if unit == "word":
            count = word_count(page.text)
        elif unit == "character":
            count = len(page.text.strip())
        else:
            count = len(_parts(page.text, unit))
        return answer(
            f"Page {page.number} of {document.title} has {plural(count, unit)}.",
            [count],
            [context.library.cite(document.id, page=page.number, label=page.label)],
            reading=f"count the {unit}s of page {page.number} of {document.title}",
        )

    return _each_page(context, one)


def extreme_page(context: Context) -> StructuralAnswer:
    """The page, or the document, with most or fewest words, tables or pages."""
    kind, _, by = context.asked.form.partition("_by_")
    least = context.asked.target == "least"
    library = context.library
    if kind == "document":
        counts = [(d.pages if by == "page" else d.tables, d, 0) for d in context.found.documents]
    else:
        counts = []
        for document in context.found.documents[:50]:
            if not document.pages:
                continue
            if by == "table":
                tables = library.tables([document])
                for number in range(1, document.pages + 1):
                    held = sum(number in table.pages for table in tables)
                    counts.append((held, document, number))
            else:
                for page in library.pages(document):
                    counts.append((word_count(page.text), document, page.number))
    if not counts:
        return nothing("There are no pages.")
    best = (min if least else max)(count for count, _, _ in counts)
    chosen = [(document, number) for count, document, number in counts if count == best]
    noun = "page" if kind == "document" and by == "page" else by
    extreme = "fewest" if least else "most"
    if kind == "document":
        return answer(
            f"{joined([d.title for d, _ in chosen])} ({plural(best, noun)}).",
            [d.title for d, _ in chosen],
            [library.cite(d.id) for d, _ in chosen],
            reading=f"the document with the {extreme} {noun}s",
        )
    several = len({document.id for _, document, _ in counts}) > 1
    places = [f"page {n}{f' of {d.title}' if several else ''}" for d, n in chosen]
    if best == 0 and by == "table" and not least:
        return answer("No page has a table.")
    return answer(
        f"{joined(places[:20]).capitalize() if not several else joined(places[:20])}"
        f" ({plural(best, by)}{' each' if len(chosen) > 1 else ''}).",
        [n for _, n in chosen],
        [library.cite(d.id, page=n) for d, n in chosen[:20]],
        reading=f"the page with the {extreme} {by}s",
    )


def headings_of_document(context: Context) -> StructuralAnswer:
    """The headings of a whole document, page by page."""

    def one(document: DocumentOutline) -> StructuralAnswer:
        held = [
            (page, heading)
            for page in context.library.pages(document)
            for heading in headings(page.text)
        ]
        lines = [f"- {heading} (page {page.number})" for page, heading in held]
        return answer(
            f"The headings of {document.title}:\n" + "\n".join(lines)
            if lines
            else f"{document.title} has no headings that can be told from its text.",
            [heading for _, heading in held],
            [
                context.library.cite(document.id, page=page.number, label=page.label, text=heading)
                for page, heading in held[:_MOST_PAGES]
            ],
            reading=f"the headings of {document.title}",
        )

    return each(context, [d for d in context.found.documents if d.pages], one)
