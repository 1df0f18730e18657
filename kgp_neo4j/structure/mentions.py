"""Answers about where a phrase stands: on which pages, how many, how often, and first or last."""

from __future__ import annotations

import re

from kgp_neo4j.structure.answers import Context, answer, joined, plural
from kgp_neo4j.structure.outline import DocumentOutline
from kgp_neo4j.structure.page_text import excerpt, phrase
from kgp_neo4j.structures import Citation, StructuralAnswer

__all__ = ["count_times", "is_on_page", "pages_mentioning"]

_MOST = 40
_WORDS = re.compile(r"[^\W_]+")
Hit = tuple[DocumentOutline, int, str, int, str]


def _hits(context: Context, said: str) -> tuple[str, list[Hit], bool]:
    """Return the phrase as it was looked for, its pages with how often it is there, and whether
    it stands in headers and footers alone.

    Without quotation marks, an article before it is left away where that finds more.
    """
    tries = [said]
    bare = re.sub(r"^(?:the|a|an|any)\s+", "", said, flags=re.IGNORECASE)
    if bare != said:
        tries.append(bare)
    if not context.made.quoted:
        for word in (bare[:-1] if bare.endswith("s") else f"{bare}s",):
            tries.append(word)
    margins: list[Hit] = []
    for attempt in tries:
        pattern = phrase(attempt)
        words = sorted({word.lower() for word in _WORDS.findall(attempt)}) or [attempt.lower()]
        documents = [d for d in context.found.documents if d.pages]
        rows = context.library.read("mentions", documents=[d.id for d in documents], words=words)
        hits: list[Hit] = []
        for row in rows:
            document = context.library.document(row["document"])
            if found := list(pattern.finditer(row["text"])):
                text = excerpt(row["text"], found[0])
                hits.append((document, row["number"], row["label"], len(found), text))
            elif found := list(pattern.finditer(row["margins"])):
                text = " ".join(row["margins"].split())
                margins.append((document, row["number"], row["label"], len(found), text))
        if hits:
            return attempt, hits, False
    return said, margins, bool(margins)


def _cites(context: Context, hits: list[Hit]) -> list[Citation]:
    return [
        context.library.cite(document.id, page=number, label=label, text=text)
        for document, number, label, _, text in hits[:_MOST]
    ]


def _places(context: Context, hits: list[Hit]) -> str:
    """Return "pages 1, 3 and 4", by document where there are several."""
    by_document: dict[str, list[int]] = {}
    for document, number, *_ in hits:
        by_document.setdefault(document.title, []).append(number)
    parts = [
        f"{'page' if len(numbers) == 1 else 'pages'} {joined(numbers)}"
        + (f" of {title}" if len(context.found.documents) > 1 or len(by_document) > 1 else "")
        for title, numbers in by_document.items()
    ]
    return "; ".join(parts)


def pages_mentioning(context: Context) -> StructuralAnswer:
    """Which pages, how many, or which page first or last mentions a phrase."""
    form, said = context.asked.form, context.asked.target
    counting = said.startswith("#")
    said, hits, margin = _hits(context, said.removeprefix("#"))
    where = " in the margins alone" if margin else ""
    reading = f"pages whose text has “{said}”{where}"
    if not hits:
        names = joined([d.title for d in context.found.documents[:3]])
        where = names if len(context.found.documents) <= 3 else "the corpus"
        return answer(f"No page of {where} mentions “{said}”.", ["0"] if counting else [],
                      reading=reading)  # fmt: skip
    if form in ("first_page_mentioning", "last_page_mentioning"):
        at = 0 if form.startswith("first") else -1
        chosen: dict[str, Hit] = {}
        for hit in hits:
            if at == -1 or hit[0].id not in chosen:
                chosen[hit[0].id] = hit
        held = list(chosen.values())
        first = "first" if at == 0 else "last"
        return answer(
            f"“{said}” is {first} mentioned on {_places(context, held)}{where}.",
            [number for _, number, *_ in held],
            _cites(context, held),
            reading=f"the {first} of the {reading}",
        )
    if counting:
        return answer(
            f"{plural(len(hits), 'page')} mention{'s' if len(hits) == 1 else ''} “{said}”{where}: "
            f"{_places(context, hits)}.",
            [len(hits)],
            _cites(context, hits),
            reading=f"count the {reading}",
        )
    return answer(
        f"“{said}” is mentioned on {_places(context, hits)}{where}.",
        [number for _, number, *_ in hits],
        _cites(context, hits),
        reading=reading,
    )


def count_times(context: Context) -> StructuralAnswer:
    """How often a phrase is mentioned, on the pages asked for."""
    said, hits, margin = _hits(context, context.asked.target)
    hits = [] if margin else hits
    if context.found.pages:
        on = {(d.id, number) for d, numbers in context.found.pages for number in numbers}
        hits = [hit for hit in hits if (hit[0].id, hit[1]) in on]
    total = sum(count for *_, count, _ in hits)
    where = f" ({_places(context, hits)})" if hits else ""
    return answer(
        f"“{said}” is mentioned {plural(total, 'time')}{where}.",
        [total],
        _cites(context, hits),
        reading=f"count how often the text has “{said}”",
    )


def is_on_page(context: Context) -> StructuralAnswer:
    """Whether the pages asked for mention a phrase."""
    on = {(d.id, number) for d, numbers in context.found.pages for number in numbers}
    said, hits, _ = _hits(context, context.asked.target)
    held = [hit for hit in hits if (hit[0].id, hit[1]) in on]
    pages = joined([f"page {n}" for n in sorted({number for _, number in on})])
    if held:
        return answer(
            f"Yes: {pages} mentions “{said}”: {held[0][4]}",
            ["yes"],
            _cites(context, held),
            reading=f"whether {pages} has “{said}”",
        )
    other = f"; it is on {_places(context, hits)}" if hits else " nor does any other page"
    return answer(
        f"No: {pages} does not mention “{said}”{other}.",
        ["no"],
        _cites(context, hits),
        reading=f"whether {pages} has “{said}”",
    )
