"""Resolve a question's references to the pages and tables that exist."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePath

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.look_up import Context, LookUp, listed_tables, on_pages
from kgp_neo4j.corpus.tables.outline import DocumentOutline, Library, TableOutline
from kgp_neo4j.corpus.tables.references import PageRef, References, TableRef, content
from kgp_neo4j.text.words import stem

__all__ = ["by_words", "phrases_of", "resolve", "stems"]

#: Documents that are named at most, and labels that are looked for.
_MOST_NAMED, _MOST_LABELS = 12, 50
#: Tables and phrases with which cells are searched, at most.
_MOST_SEARCHED, _MOST_PHRASES = 60, 400
_ROMAN = ["", *"i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()]


def resolve(
    library: Library, references: References, look_up: LookUp, *, by_model: bool = False
) -> Context:
    """Find the documents, pages and tables that the question refers to."""
    named = tuple({document.id: document for document in references.documents}.values())
    context = Context(
        library, references, look_up, named or library.documents, bool(named), by_model
    )
    for at, page in enumerate(references.pages):
        _page(context, page, _scope(context, f"PAGEREF{at}"))
    for at, table in enumerate(references.tables):
        _table(context, table, _scope(context, f"TABLEREF{at}"))
    return context


def _scope(context: Context, mark: str) -> Sequence[DocumentOutline]:
    """Return the documents that a reference belongs to: the next one named, if several are."""
    plain, named = context.references.plain, context.references.documents
    several = len(context.documents) > 1 and len(re.findall(r"(?:PAGE|TABLE)REF\d", plain)) > 1
    if not (several and context.named and "DOCREF" in plain):
        return context.documents
    places = {plain.find(f"DOCREF{at}"): document for at, document in enumerate(named)}
    after = [place for place in places if place > plain.find(mark)]
    return [places[min(after)] if after else named[-1]]


# --- Pages ---


def _page(context: Context, ref: PageRef, scope: Sequence[DocumentOutline]) -> None:
    paged = [document for document in scope if document.pages]
    if not paged:
        names = ", ".join(document.title for document in scope[:_MOST_NAMED])
        context.missing.append(f"{names or 'No document'} has no pages.")
        return
    labels = [str(page).casefold() for page in ref if page not in (0, -1)][:_MOST_LABELS]
    ids = [document.id for document in paged]
    printed: dict[tuple[str, str], int] = {}
    for row in (
        context.library.read("structure/labels", documents=ids, labels=labels) if labels else ()
    ):
        printed.setdefault((row["document"], row["label"].casefold()), row["number"])
    missing = []
    for document in paged:
        numbers, absent = [], []
        for page in ref:
            number, note = _counted(
                document, page, printed.get((document.id, str(page).casefold()))
            )
            context.notes += [note] if note else []
            numbers += [number] if number else []
            absent += [] if number else [str(page)]
        if numbers:
            context.pages.append((document, tuple(dict.fromkeys(numbers))))
        if absent and (not numbers or len(paged) == 1):
            many = "pages" if len(absent) > 1 else "page"
            has = f"{document.pages} pages" if document.pages > 1 else "1 page"
            missing.append(f"{document.title} has no {many} {', '.join(absent[:9])}; it has {has}.")
    if len(missing) == len(paged):
        context.missing += missing[:_MOST_NAMED]


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


def _table(context: Context, ref: TableRef, scope: Sequence[DocumentOutline]) -> None:
    every = tables = context.library.tables(scope)
    where = ""
    if context.pages:
        held = on_pages(context, every)
        if held or not ref.number:
            tables, where = held, f" on page {context.pages[0][1][0]}"
    chosen = _chosen(context, ref, scope, tables)
    if len(chosen) > 1 and ref.words:
        context.doubt = f"several tables fit “{ref.words}”: {listed_tables(chosen)}"
    elif tables and len(chosen) != 1 and ref == TableRef():
        context.doubt = f"there are {len(tables)} tables{where}: {listed_tables(tables)}"
    elif chosen:
        context.tables += chosen
    else:
        names = " and ".join(document.title for document in scope[:3]) if context.named else ""
        has = f"{names or 'The corpus'} has no"
        if not every:
            missing = f"{has} tables."
        elif where and not tables:
            missing = f"There is no table{where}. The tables are {listed_tables(every)}."
        else:
            called = f"Table {ref.number}{where}" if ref.number else f"table{where} like that"
            missing = f"{has} {called}. The tables are {listed_tables(every)}."
        context.missing.append(missing)


def _chosen(
    context: Context,
    ref: TableRef,
    scope: Sequence[DocumentOutline],
    tables: Sequence[TableOutline],
) -> Sequence[TableOutline]:
    """Return the tables that a reference fits."""
    library, rest = context.library, context.references.rest
    if ref.number:
        return _numbered(ref.number, tables, scope)
    if ref.ordinal is not None:
        by_document = [list(own) for _, own in groupby(tables, key=lambda table: table.document)]
        at = ref.ordinal - 1
        places = [(at if at >= 0 else len(own) + ref.ordinal, own) for own in by_document]
        return [own[place] for place, own in places if 0 <= place < len(own)]
    if len(tables) == 1:
        return tables
    if not ref.words:
        return by_words(library, rest, tables, only=True)
    fitting = by_words(library, ref.words, tables)
    if len(fitting) < 2:
        return fitting
    return by_words(library, rest, fitting, only=True) or fitting


def _numbered(
    number: str, tables: Sequence[TableOutline], scope: Sequence[DocumentOutline]
) -> list[TableOutline]:
    wanted = _id(number)
    same = {wanted}
    if wanted in _ROMAN[1:]:
        same.add(str(_ROMAN.index(wanted)))
    elif wanted.isdigit() and 0 < int(wanted) < len(_ROMAN):
        same.add(_ROMAN[int(wanted)])
    chosen = []
    for document in scope:
        own = [table for table in tables if table.document == document]
        match = [t for t in own if t.number and _id(t.number) in same]
        named = [t for t in own if not t.number and _id(t.name.removeprefix("Table ")) == wanted]
        chosen += (match or named)[:1]
    # A printed number is surer than a place in the order.
    return [t for t in chosen if t.number] or chosen


def _id(number: str) -> str:
    return re.sub(r"[\s.]+$", "", number.casefold().replace("–", "-").replace("—", "-"))


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
    if len(tables) <= _MOST_SEARCHED and len(phrases) <= _MOST_PHRASES:
        ids = [table.id for table in tables]
        rows = library.read("structure/holding", tables=ids, phrases=sorted(phrases))
        cells = {row["table"]: sum(len(p.split()) for p in row["phrases"]) for row in rows}

    def score(table: TableOutline) -> float:
        file = PurePath(table.document.source).name
        headers = " ".join(column.header for column in table.columns)
        points = 2.0 * len(wanted & stems(table.caption))
        points += len(wanted & stems(f"{table.document.title} {file}".replace("-", " ")))
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
