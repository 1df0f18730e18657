"""Look up pages: their text, margins, printed numbers and headings, and phrases on them.

And compare two of them, two tables, or a page with a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kgp_neo4j.corpus.tables.look_up import Context, answer, each, joined, nothing, plural
from kgp_neo4j.corpus.tables.outline import DocumentOutline, Page, TableOutline, cite
from kgp_neo4j.corpus.tables.references import content
from kgp_neo4j.types.tables import Citation, StructuralAnswer

__all__ = ["compare", "count_mentions", "look_up", "look_up_mentions"]

#: Pages that an answer cites at most, and characters around a phrase in an excerpt.
_CITED, _AROUND = 40, 80
_WORDS = re.compile(r"[^\W_]+")


def look_up(context: Context) -> StructuralAnswer:
    """Return a part of the named pages, or of every page of the documents where none is named."""
    pages = _pages(context, context.pages or [(document, ()) for document in context.paged])
    if not pages:
        return nothing("There are no pages.")
    if len({page.document for page in pages}) == 1:
        # A range of one document is meant as a whole, however long it is.
        context.named = True
    several = len(pages) > 1
    return each(context, pages, lambda page: _page(page, context.look_up.part, several))


def _pages(context: Context, wanted: Sequence[tuple[DocumentOutline, Sequence[int]]]) -> list[Page]:
    return [
        page
        for document, numbers in wanted
        for page in context.library.pages([document], numbers=list(numbers))
    ]


def _page(page: Page, part: str, several: bool) -> StructuralAnswer:
    where = f"{page.number} of {page.document.title}"
    citation = cite(page.document, page=page.number, label=page.label)
    if part == "headings":
        titles = _headings(page.text)
        if not titles:
            return answer("" if several else f"No heading can be told on page {where}.")
        listed = answer(
            f"The headings on page {where}: {'; '.join(titles)}.",
            titles,
            [replace(citation, text=title) for title in titles],
            reading=f"headings of page {where}, as far as the shape of its lines tells them",
        )
        return replace(listed, confidence=0.6)
    if part in ("header", "footer", "label"):
        text = getattr(page, part).strip()
        name = "printed page number" if part == "label" else part
        return answer(
            f"Page {where} has {f'the {name} “{text}”' if text else f'no {name}'}.",
            [text] if text else [],
            [replace(citation, text=text)],
            reading=f"the {name} of page {where}",
        )
    text = page.text.strip()
    shown = text or "(no text: the page is empty, or an image)"
    return answer(
        f"Page {where}:\n\n{shown}" if several else shown,
        [text] if text else [],
        [citation],
        reading=f"the text of page {where}",
        markdown=shown,
    )


# --- Headings ---

_WORD = re.compile(r"[^\W_]+(?:[-'’.,/][^\W_]+)*")
#: Words and characters of a heading at most.
_MOST_WORDS, _MOST_CHARACTERS = 14, 110
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*\.?|[A-Z]\.|[IVXLC]+\.|Chapter\s+\d+\.?|Appendix\b)\s+\S")
_SECTION = re.compile(r"(?:\d+(?:\.\d+)+\.?|(?:Chapter|Appendix|Section|Part)\s+[\dA-Z]+\.?)\s+\S")
_BULLET = re.compile(r"\s*(?:[•●▪◦‣·*–-]|\(?\w[.)])\s")
#: Code, the ends of sentences, and captions.
_NO_HEADING = re.compile(
    r".*(?:[=;{}<>]|\(\*|\b[A-Z]{4,}\([A-Z*])|(?!.*\b[A-Z]\.$).*[.;,:!]$"
    r"|(?:Table|Figure|Example|Fig\.)\s+[\dA-Z]"
)


def _headings(text: str) -> list[str]:
    """Return the headings of a page: paragraphs that read as such and come before others."""
    paragraphs = []
    for part in re.split(r"\n\s*\n", text):
        lines = [line for line in part.split("\n") if not line.lstrip().startswith("|")]
        paragraphs.append(" ".join(" ".join(lines).split()))
    paragraphs = [paragraph for paragraph in paragraphs if paragraph]
    if marked := [part.lstrip("# ").strip() for part in paragraphs if part.startswith("#")]:
        return marked
    likely = [*filter(_is_heading, paragraphs[:-1] or paragraphs)]
    # Where headings are numbered, short lines without a number are mostly labels of figures.
    return [part for part in likely if _SECTION.match(part)] or likely


def _is_heading(paragraph: str) -> bool:
    """Return whether a paragraph reads as a heading: short, begins as one, and is no sentence."""
    words = _WORD.findall(paragraph)
    letters = [word for word in words if word[0].isalpha()]
    numbered = _NUMBERED.match(paragraph)
    if len(words) > _MOST_WORDS or len(paragraph) > _MOST_CHARACTERS:
        return False
    if _NO_HEADING.match(paragraph) or (_BULLET.match(paragraph) and not numbered):
        return False
    if not any(len(word) > 2 for word in letters):
        return False
    first: str = letters[0] if numbered else words[0]
    return first[0].isupper() or first[0].isdigit()


# --- Mentions ---


@dataclass(frozen=True, slots=True)
class _Hit:
    """A page with a phrase: how often, and the words around the first occurrence."""

    page: Page
    count: int
    text: str


def look_up_mentions(context: Context) -> StructuralAnswer:
    """Return the pages with a phrase, the first or last of them, or whether there are any."""
    part = context.look_up.part
    phrase, hits, margin = _hits(context)
    if part == "exists" and context.pages:
        return _is_there(context, phrase, hits)
    reading = f"pages whose text has “{phrase}”{margin}"
    if not hits:
        titles = [document.title for document in context.documents]
        where = joined(titles) if len(titles) <= 3 else "the corpus"
        return answer(f"No page of {where} mentions “{phrase}”.", reading=reading)
    how = ""
    if part in ("first", "last"):
        chosen = {hit.page.document: hit for hit in (hits if part == "last" else reversed(hits))}
        hits = sorted(chosen.values(), key=lambda hit: hit.page.document.title)
        reading, how = f"the {part} of the {reading}", f"{part} "
    return answer(
        f"“{phrase}” is {how}mentioned on {_where(context, hits)}{margin}.",
        ["yes"] if part == "exists" else [hit.page.number for hit in hits],
        _cites(hits),
        reading=reading,
    )


def _is_there(context: Context, phrase: str, hits: list[_Hit]) -> StructuralAnswer:
    held = _on_named_pages(context, hits)
    pages = joined([f"page {n}" for n in sorted({number for _, number in context.places})])
    other = f"; it is on {_where(context, hits)}" if hits else " nor does any other page"
    return answer(
        f"Yes: {pages} mentions “{phrase}”: {held[0].text}"
        if held
        else f"No: {pages} does not mention “{phrase}”{other}.",
        ["yes" if held else "no"],
        _cites(held or hits),
        reading=f"whether {pages} has “{phrase}”",
    )


def count_mentions(context: Context) -> StructuralAnswer:
    """Return the number of pages with a phrase, or of its occurrences, on the named pages or on
    all.
    """
    phrase, hits, margin = _hits(context)
    if context.pages:
        hits = _on_named_pages(context, hits)
    where = f" ({_where(context, hits)})" if hits else ""
    if context.look_up.part == "times":
        total = sum(hit.count for hit in hits)
        on, what = plural(total, "time"), "how often"
    else:
        total = len(hits)
        on, what = f"on {plural(total, 'page')}", "the pages where"
    return answer(
        f"“{phrase}” is mentioned {on}{margin}{where}.",
        [total],
        _cites(hits),
        reading=f"count {what} the text has “{phrase}”",
    )


def _hits(context: Context) -> tuple[str, list[_Hit], str]:
    """Return the phrase searched for, its pages with the number of occurrences, and a note.

    Without quotation marks an article before it, or a plural's ending, is dropped where that finds
    more. Headers and footers count where the text has it nowhere; the note states that.
    """
    phrase = context.look_up.phrase
    tries = [phrase]
    if not context.references.quoted:
        bare = re.sub(r"^(?:the|a|an|any)\s+", "", phrase, flags=re.IGNORECASE)
        tries += [bare, bare[:-1] if bare.endswith("s") else f"{bare}s"]
    margins: list[_Hit] = []
    for attempt in dict.fromkeys(filter(None, tries)):
        pattern = _phrase(attempt)
        words = sorted({word.lower() for word in _WORDS.findall(attempt)}) or [attempt.lower()]
        hits: list[_Hit] = []
        for page in context.library.pages(context.paged, words=words):
            for into, text in ((hits, page.text), (margins, f"{page.header}\n{page.footer}")):
                if matches := list(pattern.finditer(text)):
                    into.append(_Hit(page, len(matches), _excerpt(text, matches[0])))
                    break
        if hits:
            return attempt, hits, ""
    return phrase, margins, " in the margins alone" if margins else ""


def _on_named_pages(context: Context, hits: list[_Hit]) -> list[_Hit]:
    on = context.places
    return [hit for hit in hits if (hit.page.document.id, hit.page.number) in on]


def _cites(hits: list[_Hit]) -> list[Citation]:
    return [
        cite(hit.page.document, page=hit.page.number, label=hit.page.label, text=hit.text)
        for hit in hits[:_CITED]
    ]


def _where(context: Context, hits: list[_Hit]) -> str:
    """Return "pages 1, 3 and 4", by document where there are several."""
    by_document: dict[str, list[int]] = {}
    for hit in hits:
        by_document.setdefault(hit.page.document.title, []).append(hit.page.number)
    several = len(context.documents) > 1
    return "; ".join(
        f"{'page' if len(numbers) == 1 else 'pages'} {joined(numbers)}"
        + (f" of {title}" if several else "")
        for title, numbers in by_document.items()
    )


def _phrase(words: str) -> re.Pattern[str]:
    """Return a pattern for a phrase as whole words: in any case, over any white space."""
    parts = r"(?:\s|\\?\||\*)+".join(map(re.escape, words.split()))
    before = r"(?<![^\W_])" if words[:1].isalnum() else ""
    after = r"(?![^\W_])" if words[-1:].isalnum() else ""
    return re.compile(before + parts + after, re.IGNORECASE)


def _excerpt(text: str, match: re.Match[str]) -> str:
    """Return the words around a match, on one line."""
    start, end = max(0, match.start() - _AROUND), min(len(text), match.end() + _AROUND)
    around = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{around}{'…' if end < len(text) else ''}"


# --- Comparison ---

#: Words that are shown of each, headings of a page, columns and rows of a table, things compared.
_TERMS, _HEADINGS, _COLUMNS, _ROWS, _MOST = 10, 6, 20, 500, 4


@dataclass(frozen=True, slots=True)
class _Compared:
    """A page or a table: its name, its size in words, its words, and a table's columns."""

    name: str
    size: str
    words: Counter[str]
    citation: Citation
    markdown: str = ""
    columns: dict[str, str] = field(default_factory=dict)


def compare(context: Context) -> StructuralAnswer:
    """Return what is on one page, or in one table, alone, and what both have in common.

    The values are the words that only one has; for tables, the columns that not all have, or those
    that all have where the question asks for them.
    """
    compared = [_compared_page(context, page) for page in _pages(context, context.pages)]
    compared += [_compared_table(context, table) for table in context.tables]
    every = list({one.citation: one for one in compared}.values())[:_MOST]
    if len(every) < 2:
        return nothing("Two pages or tables are needed for a comparison, and one is there.")
    names, citations = joined([one.name for one in every]), [one.citation for one in every]
    norms = set.intersection(*(set(one.columns) for one in every))
    shared = [name for norm, name in every[0].columns.items() if norm in norms]
    columns = f"Columns in common: {', '.join(shared) or 'none'}."
    if context.look_up.part == "columns":
        reading = f"columns in common of {names}"
        return answer(f"{names}. {columns}", shared, citations, reading=reading)
    having = Counter(word for one in every for word in one.words)
    lines, only = [], []
    for one in every:
        own = [w for w in one.words if having[w] == 1 and len(w) > 3 and not w.isdigit()]
        own = sorted(own, key=lambda word: (-one.words[word], -len(word), word))[:_TERMS]
        only += own
        here = f"; only here: {', '.join(own)}" if own else ""
        lines.append(f"{one.name}: {one.size}{here}.")
    both = [word for word, count in having.items() if count == len(every)]
    common = sorted(both, key=lambda word: (-min(one.words[word] for one in every), word))[:_TERMS]
    lines.append(f"Both speak of: {', '.join(common)}." if common else "They share no word.")
    if all(one.columns for one in every):
        lines.append(columns)
        only = [n for one in every for norm, n in one.columns.items() if norm not in norms]
    markdown = "\n\n".join(f"## {one.name}\n\n{one.markdown}" for one in every if one.markdown)
    return answer("\n".join(lines), only, citations, reading=f"compare {names}", markdown=markdown)


def _compared_page(context: Context, page: Page) -> _Compared:
    tables = [t.name for t in context.library.tables([page.document]) if page.number in t.pages]
    words = plural(len(_WORD.findall(page.text)), "word")
    titles = _headings(page.text)[:_HEADINGS]
    return _Compared(
        f"Page {page.number} of {page.document.title}",
        f"{words}, {joined(tables) if tables else 'no table'}"
        + (f"; headings: {'; '.join(titles)}" if titles else ""),
        Counter(content(page.text)),
        cite(page.document, page=page.number, label=page.label),
        page.text.strip(),
    )


def _compared_table(context: Context, table: TableOutline) -> _Compared:
    rows = context.library.rows(table, limit=_ROWS)
    texts = [*(c.header for c in table.columns), *(cell.text for row in rows for cell in row.cells)]
    where = f" on page {joined(table.pages)}" if table.pages else ""
    return _Compared(
        table.called,
        f"{plural(table.rows, 'row')}{where} with the columns "
        f"{', '.join(column.name for column in table.columns[:_COLUMNS])}",
        Counter(word for text in texts for word in content(text)),
        cite(table.document, table=table, text=table.caption),
        columns={column.norm: column.name for column in table.columns if column.norm},
    )
