"""The look-ups in pages and tables, what they refer to, and the shared parts of their answers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path, PurePath
from typing import Any, Literal, TypeVar

import msgspec

from kgp_neo4j.corpus.load.contents import normal
from kgp_neo4j.corpus.tables.outline import DocumentOutline, Library, TableOutline, runs
from kgp_neo4j.corpus.tables.references import PageRef, References, TableRef, content
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.tables import Citation, StructuralAnswer


class Kind(msgspec.Struct, frozen=True):
    """A kind of look-up: what it gives, the parts of that (the first is the default), its needs."""

    gives: str
    parts: tuple[str, ...]
    needs: tuple[str, ...] = ()


KINDS = msgspec.toml.decode(
    Path(__file__).with_name("look_ups.toml").read_bytes(), type=dict[str, Kind]
)
T = TypeVar("T")
#: Documents that are answered for at most where a question names none.
_MOST_DOCUMENTS = 10
#: Documents and tables that are named at most, and labels that are looked for.
_MOST_NAMED, _MOST_LABELS = 12, 50
#: Tables and phrases with which cells are searched, at most.
_MOST_SEARCHED, _MOST_PHRASES = 60, 400


@dataclass(frozen=True, slots=True)
class LookUp:
    """One look-up: its kind, the part of it that is asked for, and its restrictions.

    `phrase` is the text to find (mentions) or the words of a caption (tables), `row` and `column`
    are names. With `each` and `pick` a count gives the `page`, `table` or `document` with the
    `most` or `fewest`.
    """

    kind: str
    part: str = ""
    phrase: str = ""
    row: str = ""
    column: str = ""
    each: str = ""
    pick: Literal["", "most", "fewest"] = ""


@dataclass(slots=True)
class Context:
    """A question: its references, its look-up, and the documents, pages and tables that it means.

    `pages` and `tables` have an entry for each one named, in the question's order; where no
    document was `named`, one for each document that has it. `missing` lists what does not exist,
    `notes` how a reference was resolved, `doubt` why a table is ambiguous. `figure` is that over
    the rows of a table which is not named.
    """

    library: Library
    references: References
    look_up: LookUp
    documents: tuple[DocumentOutline, ...]
    named: bool
    pages: list[tuple[DocumentOutline, tuple[int, ...]]] = field(default_factory=list)
    tables: list[TableOutline] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    doubt: str = ""
    figure: StructuralAnswer | None = None

    @property
    def places(self) -> set[tuple[str, int]]:
        """Return the pages that a question names, as ids of documents with numbers."""
        return {(document.id, number) for document, numbers in self.pages for number in numbers}

    @property
    def where(self) -> str:
        """Return the names of few documents, else "the corpus"."""
        few = len(self.documents) <= 3
        return joined([document.name for document in self.documents]) if few else "the corpus"

    @property
    def paged(self) -> list[DocumentOutline]:
        """Return the documents in question that have pages."""
        return [document for document in self.documents if document.pages]

    def on_pages(self, tables: Sequence[TableOutline]) -> list[TableOutline]:
        """Return those of the tables that are on the pages that a question names."""
        on = self.places
        return [table for table in tables if any((table.document.id, n) in on for n in table.pages)]


def resolve(library: Library, references: References, look_up: LookUp) -> Context:
    """Find the documents, pages and tables that the question refers to."""
    named = tuple({document.id: document for document in references.documents}.values())
    context = Context(library, references, look_up, named or library.documents, bool(named))
    for at, page in enumerate(references.pages):
        _find_page(context, page, _scope(context, f"PAGEREF{at}"))
    for at, table in enumerate(references.tables):
        _find_table(context, table, _scope(context, f"TABLEREF{at}"))
    return context


def _scope(context: Context, mark: str) -> Sequence[DocumentOutline]:
    """Return the documents that a reference belongs to: the next one named, if several are."""
    plain, named = context.references.plain, context.references.documents
    if "DOCREF" not in plain or len(re.findall(r"(?:PAGE|TABLE)REF\d", plain)) < 2:
        return context.documents
    places = {plain.find(f"DOCREF{at}"): document for at, document in enumerate(named)}
    after = [place for place in places if place > plain.find(mark)]
    return [places[min(after)] if after else named[-1]]


def _find_page(context: Context, ref: PageRef, scope: Sequence[DocumentOutline]) -> None:
    paged = [document for document in scope if document.pages]
    if not paged:
        names = ", ".join(document.name for document in scope[:_MOST_NAMED])
        context.missing.append(f"{names} has no pages.")
        return
    labels = [str(page).casefold() for page in ref][:_MOST_LABELS]
    ids = [document.id for document in paged]
    rows = context.library.read("structure/labels", documents=ids, labels=labels)
    printed = {(row["document"], row["label"].casefold()): row["number"] for row in rows[::-1]}
    missing = []
    for document in paged:
        numbers, absent = [], []
        for page in ref:
            label = printed.get((document.id, str(page).casefold()))
            place = 0 if isinstance(page, str) else page if page > 0 else document.pages + 1 + page
            number = place if 1 <= place <= document.pages else label
            numbers += [number] if number else []
            absent += [] if number else [str(page)]
            if label and place and label != place:
                note = f"page {number} as counted; the page printed {page} is page {label}"
                context.notes.append(note)
        if numbers:
            context.pages.append((document, tuple(dict.fromkeys(numbers))))
        if absent and (not numbers or len(paged) == 1):
            lacks = f"page{'s' if len(absent) > 1 else ''} {', '.join(absent[:9])}"
            has = plural(document.pages, "page")
            missing.append(f"{document.name} has no {lacks}; it has {has}.")
    if len(missing) == len(paged):
        context.missing += missing[:_MOST_NAMED]


def _find_table(context: Context, ref: TableRef, scope: Sequence[DocumentOutline]) -> None:
    every = tables = context.library.tables(scope)
    where = ""
    if context.pages:
        held = context.on_pages(every)
        if held or not ref.number:
            tables, where = held, f" on page {context.pages[0][1][0]}"
    chosen = _chosen(context, ref, tables)
    if len(chosen) > 1 and ref.words:
        context.doubt = f"several tables fit “{ref.words}”: {_listed(chosen)}"
    elif tables and len(chosen) != 1 and ref == TableRef():
        context.doubt = f"there are {len(tables)} tables{where}: {_listed(tables)}"
    elif chosen:
        context.tables += chosen
    elif where and every and not tables:
        context.missing.append(f"There is no table{where}. The tables are {_listed(every)}.")
    else:
        names = " and ".join(document.name for document in scope[:3]) if context.named else ""
        called = f"Table {ref.number}{where}" if ref.number else f"table{where} like that"
        there = f"The tables are {_listed(every)}." if every else "There are no tables."
        context.missing.append(f"{names or 'The corpus'} has no {called}. {there}")


def _listed(tables: Sequence[TableOutline]) -> str:
    """Return "Table 1 of Fares (page 2), Table 2 of Fares (page 3) and 4 more"."""
    first = tables[:_MOST_NAMED]
    names = [f"{t.called} (page {t.pages[0]})" if t.pages else t.called for t in first]
    more = len(tables) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _chosen(context: Context, ref: TableRef, tables: list[TableOutline]) -> list[TableOutline]:
    library, rest = context.library, context.references.rest
    by_document = [list(own) for _, own in groupby(tables, key=lambda table: table.document)]
    if ref.number:
        wanted = _id(ref.number)
        fit = [t for t in tables if _id(t.number or t.name.removeprefix("Table ")) == wanted]
        # A printed number is surer than a place in the order.
        fit = [table for table in fit if table.number] or fit
        return [next(own) for _, own in groupby(fit, key=lambda table: table.document)]
    if ref.ordinal is not None:
        at = ref.ordinal - 1
        places = [(at if at >= 0 else len(own) + ref.ordinal, own) for own in by_document]
        return [own[place] for place, own in places if 0 <= place < len(own)]
    if len(tables) == 1:
        return tables
    if not ref.words:
        return by_words(library, rest, tables, only=True)
    fitting = by_words(library, ref.words, tables)
    return (by_words(library, rest, fitting, only=True) if len(fitting) > 1 else []) or fitting


def _id(number: str) -> str:
    return re.sub(r"[\s.]+$", "", number.casefold().replace("–", "-").replace("—", "-"))


def by_words(
    library: Library, words: str, tables: Sequence[TableOutline], *, only: bool = False
) -> list[TableOutline]:
    """Return the tables, or the `only` one, that words fit best: captions, headers, cells."""
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


def phrases_of(text: str) -> set[str]:
    """Return the runs of words of a text in normal form, as cells and headers are compared."""
    return set(map(" ".join, runs(normal(text).split()[:60], longest=8)))


def stems(text: str) -> set[str]:
    """Return the stems of a text's words that are not stop words."""
    return {stem(word) for word in content(text)}


def answer(
    text: str, values: Sequence[object] = (), citations: Sequence[Citation] = (), **more: Any
) -> StructuralAnswer:
    """Return a sure answer."""
    return StructuralAnswer(text, tuple(map(str, values)), citations=tuple(citations), **more)


def nothing(text: str) -> StructuralAnswer:
    """Return the answer that the thing asked for does not exist."""
    return StructuralAnswer(text=text, found=False)


def unsure(doubt: str) -> StructuralAnswer:
    """Return the answer that claims nothing, for a reason."""
    return StructuralAnswer(text="", sure=False, confidence=0.0, doubt=doubt)


def each(
    context: Context, items: Sequence[T], make: Callable[[T], StructuralAnswer]
) -> StructuralAnswer:
    """Answer for each of several documents, pages or tables, one after another."""
    if len(items) > _MOST_DOCUMENTS and not context.named:
        return unsure(f"{len(items)} documents fit; name the one that is meant")
    parts = [make(item) for item in items]
    parts = [part for part in parts if part.found] or parts
    return replace(
        parts[0],
        text="\n".join(part.text for part in parts if part.text),
        values=tuple(value for part in parts for value in part.values),
        sure=all(part.sure for part in parts),
        doubt="; ".join(part.doubt for part in parts if part.doubt),
        confidence=min(part.confidence for part in parts),
        citations=tuple(citation for part in parts for citation in part.citations),
        markdown="\n\n".join(part.markdown for part in parts if part.markdown),
    )


def plural(count: int, noun: str) -> str:
    """Return "1 table", "2 tables"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def joined(items: Sequence[object]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    *texts, last = map(str, items)
    return f"{', '.join(texts)} and {last}" if texts else last
