"""Look up pages: their text, margins, printed numbers and headings, and phrases on them."""

from __future__ import annotations

import re
from dataclasses import replace

from kgp_neo4j.corpus.tables.look_up import (
    Context,
    answer,
    each,
    joined,
    nothing,
    paged,
    places,
    plural,
)
from kgp_neo4j.corpus.tables.outline import DocumentOutline, PageText
from kgp_neo4j.corpus.tables.page_text import excerpt, headings, phrase
from kgp_neo4j.types.tables import Citation, StructuralAnswer

__all__ = ["count_mentions", "look_up_mentions", "look_up_page"]

_CITED = 40
_WORDS = re.compile(r"[^\W_]+")
Hit = tuple[DocumentOutline, int, str, int, str]


def look_up_page(context: Context) -> StructuralAnswer:
    """Return a part of the named pages, or of every page of the documents where none is named."""
    part = context.look_up.part
    wanted = context.found.pages or [(document, ()) for document in paged(context)]
    pages = [
        (document, page)
        for document, numbers in wanted
        for page in context.library.pages(document, numbers)
    ]
    if not pages:
        return nothing("There are no pages.")
    if len({document.id for document, _ in pages}) == 1:
        # A range of one document is meant as a whole, however long it is.
        context.found.named = True
    several = len(pages) > 1

    def one(item: tuple[DocumentOutline, PageText]) -> StructuralAnswer:
        document, page = item
        where = f"page {page.number} of {document.title}"
        cite = context.library.cite(document.id, page=page.number, label=page.label)
        if part == "headings":
            return _headings(page, where, cite, several)
        if part in ("header", "footer", "label"):
            said = {"header": page.header, "footer": page.footer, "label": page.label}[part].strip()
            name = "printed page number" if part == "label" else part
            has = f"the {name} “{said}”" if said else f"no {name}"
            return answer(
                f"Page {page.number} of {document.title} has {has}.",
                [said] if said else [],
                [replace(cite, text=said)],
                reading=f"the {name} of {where}",
            )
        text = page.text.strip()
        said = text or "(no text: the page is empty, or an image)"
        head = f"Page {page.number} of {document.title}:\n\n" if several else ""
        return answer(
            f"{head}{said}",
            [text] if text else [],
            [cite],
            reading=f"the text of {where}",
            markdown=said,
        )

    return each(context, pages, one)


def _headings(page: PageText, where: str, cite: Citation, several: bool) -> StructuralAnswer:
    found = headings(page.text)
    if not found:
        return answer("" if several else f"No heading can be told on {where}.")
    made = answer(
        f"The headings on {where}: {'; '.join(found)}.",
        found,
        [replace(cite, text=heading) for heading in found],
        reading=f"headings of {where}, as far as the shape of its lines tells them",
    )
    return replace(made, confidence=0.6)


# --- Mentions ---


def look_up_mentions(context: Context) -> StructuralAnswer:
    """Return the pages with a phrase, the first or last of them, or whether there are any."""
    part = context.look_up.part
    said, hits, margin = _hits(context)
    reading = f"pages whose text has “{said}”{margin}"
    if part == "exists" and context.found.pages:
        return _is_there(context, said, hits)
    if not hits:
        names = joined([document.title for document in context.found.documents[:3]])
        where = names if len(context.found.documents) <= 3 else "the corpus"
        return answer(f"No page of {where} mentions “{said}”.", reading=reading)
    if part in ("first", "last"):
        chosen: dict[str, Hit] = {}
        for hit in hits if part == "last" else reversed(hits):
            chosen[hit[0].id] = hit
        hits = sorted(chosen.values(), key=lambda hit: hit[0].title)
        reading = f"the {part} of the {reading}"
    how = f"{part} " if part in ("first", "last") else ""
    return answer(
        f"“{said}” is {how}mentioned on {_where(context, hits)}{margin}.",
        ["yes"] if part == "exists" else [number for _, number, *_ in hits],
        _cites(context, hits),
        reading=reading,
    )


def _is_there(context: Context, said: str, hits: list[Hit]) -> StructuralAnswer:
    on = places(context)
    held = [hit for hit in hits if (hit[0].id, hit[1]) in on]
    pages = joined([f"page {n}" for n in sorted({number for _, number in on})])
    other = f"; it is on {_where(context, hits)}" if hits else " nor does any other page"
    return answer(
        f"Yes: {pages} mentions “{said}”: {held[0][4]}"
        if held
        else f"No: {pages} does not mention “{said}”{other}.",
        ["yes" if held else "no"],
        _cites(context, held or hits),
        reading=f"whether {pages} has “{said}”",
    )


def count_mentions(context: Context) -> StructuralAnswer:
    """Return the number of pages with a phrase, or of its occurrences, on the named pages or on
    all.
    """
    said, hits, margin = _hits(context)
    if context.found.pages:
        hits = [hit for hit in hits if (hit[0].id, hit[1]) in places(context)]
    times = context.look_up.part == "times"
    total = sum(count for *_, count, _ in hits) if times else len(hits)
    where = f" ({_where(context, hits)})" if hits else ""
    return answer(
        f"“{said}” is mentioned {plural(total, 'time')}{margin}{where}."
        if times
        else f"“{said}” is mentioned on {plural(total, 'page')}{margin}{where}.",
        [total],
        _cites(context, hits),
        reading=f"count {'how often' if times else 'the pages where'} the text has “{said}”",
    )


def _hits(context: Context) -> tuple[str, list[Hit], str]:
    """Return the phrase searched for, its pages with the number of occurrences, and a note.

    Without quotation marks an article before it, or a plural's ending, is dropped where that finds
    more. Headers and footers count where the text has it nowhere; the note states that.
    """
    said = context.look_up.phrase
    tries = [said]
    if not context.made.quoted:
        bare = re.sub(r"^(?:the|a|an|any)\s+", "", said, flags=re.IGNORECASE)
        tries += [bare, bare[:-1] if bare.endswith("s") else f"{bare}s"]
    margins: list[Hit] = []
    for attempt in dict.fromkeys(filter(None, tries)):
        pattern = phrase(attempt)
        words = sorted({word.lower() for word in _WORDS.findall(attempt)}) or [attempt.lower()]
        ids = [document.id for document in paged(context)]
        hits: list[Hit] = []
        for row in context.library.read("mentions", documents=ids, words=words):
            for into, text in ((hits, row["text"]), (margins, row["margins"])):
                if found := list(pattern.finditer(text)):
                    document = context.library.document(row["document"])
                    shown = excerpt(text, found[0])
                    into.append((document, row["number"], row["label"], len(found), shown))
                    break
        if hits:
            return attempt, hits, ""
    return said, margins, " in the margins alone" if margins else ""


def _cites(context: Context, hits: list[Hit]) -> list[Citation]:
    return [
        context.library.cite(document.id, page=number, label=label, text=text)
        for document, number, label, _, text in hits[:_CITED]
    ]


def _where(context: Context, hits: list[Hit]) -> str:
    """Return "pages 1, 3 and 4", by document where there are several."""
    by_document: dict[str, list[int]] = {}
    for document, number, *_ in hits:
        by_document.setdefault(document.title, []).append(number)
    several = len(context.found.documents) > 1
    return "; ".join(
        f"{'page' if len(numbers) == 1 else 'pages'} {joined(numbers)}"
        + (f" of {title}" if several else "")
        for title, numbers in by_document.items()
    )
