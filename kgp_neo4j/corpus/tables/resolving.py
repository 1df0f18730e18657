"""Resolve a question's references to the pages and tables that exist."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.outline import DocumentOutline, Library, TableOutline
from kgp_neo4j.corpus.tables.references import PageRef, References, TableRef, content
from kgp_neo4j.text.words import stem

__all__ = ["Resolved", "by_words", "phrases_of", "resolve", "stems"]

_MOST_LISTED = 12
_ROMAN = ["", *"i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()]


@dataclass(slots=True)
class Resolved:
    """The result: documents, their pages and tables; and what does not exist.

    `pages` and `tables` have an entry for each page or table named, in the question's order; where
    no document was named, one for each document that has it. `missing` lists what does not exist,
    `notes` how a reference was resolved, `doubt` why a table is ambiguous.
    """

    documents: tuple[DocumentOutline, ...]
    named: bool
    pages: list[tuple[DocumentOutline, tuple[int, ...]]] = field(default_factory=list)
    tables: list[TableOutline] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    doubt: str = ""


def resolve(library: Library, made: References) -> Resolved:
    """Find the documents, pages and tables that the question refers to."""
    named = tuple({document.id: document for document in made.documents}.values())
    found = Resolved(named or library.documents, bool(named))
    for at, page in enumerate(made.pages):
        _page(library, found, page, _scope(made, found, f"PAGEREF{at}"))
    for at, table in enumerate(made.tables):
        scope = _scope(made, found, f"TABLEREF{at}")
        _table(library, found, table, scope, made)
    return found


def _scope(made: References, found: Resolved, mark: str) -> tuple[DocumentOutline, ...]:
    """Return the documents that a reference belongs to: the next one named, if several are."""
    if len(found.documents) < 2 or not found.named or "DOCREF" not in made.plain:
        return found.documents
    place = made.place(mark)
    after = [
        (made.place(f"DOCREF{at}"), document)
        for at, document in enumerate(made.documents)
        if made.place(f"DOCREF{at}") > place
    ]
    marks = len(re.findall(r"(?:PAGE|TABLE)REF\d", made.plain))
    if marks < 2:
        return found.documents
    return (min(after, key=lambda a: a[0])[1],) if after else (made.documents[-1],)


# --- Pages ---


def _page(
    library: Library, found: Resolved, ref: PageRef, scope: tuple[DocumentOutline, ...]
) -> None:
    paged = [document for document in scope if document.pages]
    if not paged:
        names = ", ".join(document.title for document in scope[:_MOST_LISTED])
        found.missing.append(f"{names or 'No document'} has no pages.")
        return
    asked: list[str | int] = [*ref.labels, *ref.numbers]
    labels = [str(page).casefold() for page in asked if page not in (0, -1)][:50]
    printed: dict[tuple[str, str], int] = {}
    for row in (
        library.read("labels", documents=[d.id for d in paged], labels=labels) if labels else ()
    ):
        printed.setdefault((row["document"], row["label"].casefold()), row["number"])
    missing = []
    for document in paged:
        numbers, absent = [], []
        for page in asked:
            bears = printed.get((document.id, str(page).casefold()))
            number, note = _counted(document, page, bears)
            found.notes += [note] if note else []
            numbers += [number] if number else []
            absent += [] if number else [str(page)]
        if numbers:
            found.pages.append((document, tuple(dict.fromkeys(numbers))))
        if absent and (not numbers or len(paged) == 1):
            many = "pages" if len(absent) > 1 else "page"
            has = f"{document.pages} pages" if document.pages > 1 else "1 page"
            missing.append(f"{document.title} has no {many} {', '.join(absent[:9])}; it has {has}.")
    if len(missing) == len(paged):
        found.missing += missing[:_MOST_LISTED]


def _counted(
    document: DocumentOutline, page: str | int, printed: int | None
) -> tuple[int | None, str]:
    """Return the number of a page as counted, and a note where its printed number differs.

    `printed` is the page with the printed number in question. Numbers below 1 count from the end.
    """
    if isinstance(page, str):
        return printed, ""
    counted = page if page > 0 else document.pages + 1 + page
    if not 1 <= counted <= document.pages:
        return printed, f"the page printed {page} is page {printed} as counted" if printed else ""
    if printed in (None, counted):
        return counted, ""
    return counted, f"page {page} as counted; the page printed {page} is page {printed}"


# --- Tables ---


def _table(
    library: Library,
    found: Resolved,
    ref: TableRef,
    scope: tuple[DocumentOutline, ...],
    made: References,
) -> None:
    tables = library.tables(scope)
    where = ""
    if made.pages and found.pages:
        on = {(document.id, number) for document, pages in found.pages for number in pages}
        held = [t for t in tables if any((t.document, page) in on for page in t.pages)]
        if held or not ref.number:
            tables = held
            where = f" on page {found.pages[0][1][0]}"
    if ref.number:
        chosen = _numbered(ref.number, tables, scope)
    elif ref.ordinal is not None:
        chosen = _ordinal(ref.ordinal, tables)
    elif ref.words:
        chosen = by_words(library, ref.words, tables)
        if len(tables) == 1 and not chosen:
            chosen = tables
        if len(chosen) > 1:
            narrowed = by_words(library, made.rest, chosen)
            chosen = narrowed if len(narrowed) == 1 else _main(found, chosen) or chosen
    else:
        chosen = tables
        if len(tables) > 1:
            chosen = by_words(library, made.rest, tables, only=True) or _main(found, tables)
        if len(chosen) != 1 and tables:
            found.doubt = f"there are {len(tables)} tables{where}: {_listed(library, tables)}"
            return
    if chosen:
        if len(chosen) > 1 and ref.words:
            found.doubt = f"several tables fit “{ref.words}”: {_listed(library, chosen)}"
            return
        found.tables += chosen
        return
    called = f"Table {ref.number}" if ref.number else "such a table"
    names = " and ".join(document.title for document in scope[:3]) if found.named else ""
    there = library.tables(scope)
    if not there:
        found.missing.append(f"{names or 'The corpus'} has no tables.")
    elif where and not tables:
        listed = _listed(library, there)
        found.missing.append(f"There is no table{where}. The tables are {listed}.")
    else:
        found.missing.append(
            f"{names or 'The corpus'} has no {called.removeprefix('such a ')}{where}"
            f"{' like that' if not ref.number else ''}. The tables are {_listed(library, there)}."
        )


def _numbered(
    number: str, tables: list[TableOutline], scope: Sequence[DocumentOutline]
) -> list[TableOutline]:
    wanted = _id(number)
    chosen: list[TableOutline] = []
    if wanted.isdigit() and 0 < int(wanted) < len(_ROMAN):
        same = {wanted, _ROMAN[int(wanted)]}
    elif wanted in _ROMAN[1:]:
        same = {wanted, str(_ROMAN.index(wanted))}
    else:
        same = {wanted}
    for document in scope:
        own = [t for t in tables if t.document == document.id]
        match = [t for t in own if t.number and _id(t.number) in same]
        if not match:
            match = [
                t for t in own if not t.number and _id(t.name.removeprefix("Table ")) == wanted
            ]
        chosen += match[:1]
    # A printed number is surer than a place in the order.
    return [t for t in chosen if t.number] or chosen


def _main(found: Resolved, tables: Sequence[TableOutline]) -> list[TableOutline]:
    """Return the table that is by far the largest of one document's, and add a note on it."""
    sizes = sorted((table.rows * len(table.columns) for table in tables), reverse=True)
    if len({table.document for table in tables}) != 1 or sizes[0] < 8 * max(1, sizes[1]):
        return []
    largest = max(tables, key=lambda table: table.rows * len(table.columns))
    found.notes.append(f"{largest.name} is by far the largest of {len(tables)} tables")
    return [largest]


def _ordinal(place: int, tables: list[TableOutline]) -> list[TableOutline]:
    by_document: dict[str, list[TableOutline]] = {}
    for table in tables:
        by_document.setdefault(table.document, []).append(table)
    made = []
    for own in by_document.values():
        at = place - 1 if place > 0 else len(own) + place
        if 0 <= at < len(own):
            made.append(own[at])
    return made


def _id(number: str) -> str:
    return re.sub(r"[\s.]+$", "", number.casefold().replace("–", "-").replace("—", "-"))


def _listed(library: Library, tables: Sequence[TableOutline]) -> str:
    several = len({t.document for t in tables}) > 1
    names = [
        f"{t.name}{f' of {library.document(t.document).title}' if several else ''}"
        + (f" (page {t.pages[0]})" if t.pages else "")
        for t in tables[:_MOST_LISTED]
    ]
    more = len(tables) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


# --- By words ---


def by_words(
    library: Library, words: str, tables: Sequence[TableOutline], *, only: bool = False
) -> list[TableOutline]:
    """Return the tables that the words fit best: by caption, headers, document, then by cells.

    `only` requires a clear winner: no table where two are as good.
    """
    wanted, phrases = stems(words), phrases_of(words)
    if not wanted or not tables:
        return []
    cells: dict[str, int] = {}
    if len(tables) <= 60 and len(phrases) <= 400:
        ids = [table.id for table in tables]
        rows = library.read("holding", tables=ids, phrases=sorted(phrases))
        cells = {row["table"]: sum(len(p.split()) for p in row["phrases"]) for row in rows}

    def score(table: TableOutline) -> float:
        document = library.document(table.document)
        headers = " ".join(column.header for column in table.columns)
        points = 2.0 * len(wanted & stems(table.caption))
        points += len(wanted & stems(f"{document.title} {document.file}".replace("-", " ")))
        points += len(wanted & stems(headers))
        points += sum(len(c.norm.split()) for c in table.columns if c.norm in phrases)
        points += 1.5 * cells.get(table.id, 0)
        caption = normal(table.caption)
        return points + 5 * (bool(caption) and normal(words) in caption)

    scores = [score(table) for table in tables]
    best = max(scores)
    chosen = [table for table, points in zip(tables, scores, strict=True) if points == best > 0]
    return [] if only and len(chosen) > 1 else chosen


def phrases_of(text: str, longest: int = 8) -> set[str]:
    """Return the runs of words of a text in normal form, as cells and headers are compared."""
    tokens = normal(text).split()[:60]
    return {
        " ".join(tokens[at : at + size])
        for size in range(1, longest + 1)
        for at in range(len(tokens) - size + 1)
    }


def stems(text: str) -> set[str]:
    """Return the stems of a text's words that are not stop words."""
    return {stem(word) for word in content(text)}
