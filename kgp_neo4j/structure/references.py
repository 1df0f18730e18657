"""What a question refers to: documents, pages, tables, rows and columns, and quoted texts.

What is found is taken out of the question and replaced by a placeholder (`PAGEREF0`, `TABLEREF0`,
`ROWREF0`, `COLREF0`, `QUOTE0`), so that the rest can be read as one of a few forms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgp_neo4j.structure.language import NUMBER, ORDINAL, content, number_of, ordinal_of
from kgp_neo4j.structure.names import named_documents
from kgp_neo4j.structure.outline import DocumentOutline
from kgp_neo4j.structure.patterns import (
    AROUND,
    BUT_ONE,
    CELL_AT,
    COLUMN_LIST,
    COLUMN_ORDINAL,
    DOCUMENT_NOUN,
    PAGE,
    PAGE_LIST,
    PAGE_ORDINAL,
    PAGE_RANGE,
    POLITE,
    QUOTED,
    ROW_LIST,
    ROW_ORDINAL,
    SHORT,
    STRUCTURE,
    SUPERLATIVE,
    TABLE_CALLED,
    TABLE_ID,
    TABLE_LIST,
    TABLE_NAMED,
    TABLE_ON_PAGE,
    TABLE_ORDINAL,
    TABLE_THE,
)

__all__ = ["PageRef", "References", "TableRef", "read_references"]

_I = re.IGNORECASE


@dataclass(frozen=True, slots=True)
class PageRef:
    """Pages as a question names them: counted numbers (-1 is the last), or labels as printed."""

    numbers: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    at: int = 0


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table as a question names it: by its number, by its place, by words, or as "the table"."""

    number: str = ""
    ordinal: int | None = None
    words: str = ""
    at: int = 0


@dataclass(slots=True)
class References:
    """What a question refers to, and `plain`: the question with placeholders for it.

    `rest` is the question without what names documents, pages and tables, but with all else as it
    was written. `documents` holds the named documents in order, with their places in `plain`.
    """

    question: str
    plain: str = ""
    rest: str = ""
    pages: list[PageRef] = field(default_factory=list)
    tables: list[TableRef] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    quoted: list[str] = field(default_factory=list)
    documents: list[tuple[DocumentOutline, int]] = field(default_factory=list)
    partly: bool = False

    def place(self, placeholder: str) -> int:
        """Return where a placeholder stands in `plain`; -1 where it does not."""
        return self.plain.find(placeholder)


#: Characters of a question that are read; what is longer is a pasted page.
LONGEST = 2_000


def read_references(question: str, documents: Sequence[DocumentOutline]) -> References:
    """Return what the question refers to; `documents` are those that it may name."""
    made = References(question=question)
    text = " ".join(question[:LONGEST].split())
    text = POLITE.sub("", text)
    text = SHORT.sub(r"\1 is", text)
    text = QUOTED.sub(lambda m: _quote(made, m), text)
    text, rest = _documents(made, text, documents)
    made.rest = _restored(made, _without_structure(rest))
    text = BUT_ONE.sub("the next-to-last page", text)
    text = CELL_AT.sub(r"row \1, column \2", text)
    text = PAGE_RANGE.sub(lambda m: _page_range(made, m), text)
    text = PAGE_LIST.sub(lambda m: _page_list(made, m[1] or m[2]), text)
    text = PAGE_ORDINAL.sub(lambda m: _page_ordinal(made, m), text)
    text = COLUMN_LIST.sub(lambda m: _places(made.columns, "COLREF", m[1]), text)
    text = COLUMN_ORDINAL.sub(lambda m: _place(made.columns, "COLREF", ordinal_of(m[1])), text)
    text = ROW_LIST.sub(lambda m: _places(made.rows, "ROWREF", m[1]), text)
    text = ROW_ORDINAL.sub(lambda m: _place(made.rows, "ROWREF", ordinal_of(m[1])), text)
    text = _tables(made, text)
    made.plain = " ".join(text.split())
    return made


def _quote(made: References, found: re.Match[str]) -> str:
    made.quoted.append(next(filter(None, found.groups())).strip().rstrip(".,;"))
    return f" QUOTE{len(made.quoted) - 1} "


def _restored(made: References, text: str) -> str:
    for at, quoted in enumerate(made.quoted):
        text = text.replace(f"QUOTE{at} ", f'"{quoted}" ').replace(f"QUOTE{at}", f'"{quoted}"')
    return re.sub(r"\s+([?.,;!])", r"\1", " ".join(text.split())).strip(" ,")


#: "the survey's table", "the survey report's table"
_ITS_TABLE = re.compile(
    rf"\b(?:the\s+)?(DOCREF\d+)(?:\s*(?:'s|’s))?(?:\s+{DOCUMENT_NOUN})?(?:'s|’s)?\s+table\b(?!s)",
    _I,
)


def _documents(
    made: References, text: str, documents: Sequence[DocumentOutline]
) -> tuple[str, str]:
    """Take the documents' names out; what is left stands for what is asked of them.

    The second text is for questions within a table: a name met only in part stays in it.
    """
    for at, quoted in enumerate(made.quoted):
        for found in named_documents(quoted, documents):
            if found.whole and found.start == 0 and found.end == len(quoted):
                text = text.replace(f"QUOTE{at} ", f"DOCREF{len(made.documents)} ")
                made.documents += [(document, 0) for document in found.documents]
                break
    rest = text
    for found in sorted(named_documents(text, documents), key=lambda f: -f.start):
        mark = f"DOCREF{len(made.documents)}"
        made.documents += [(document, 0) for document in found.documents]
        made.partly |= not found.whole
        text = f"{text[: found.start]} {mark} {text[found.end :]}"
        if found.whole:
            rest = f"{rest[: found.start]} {mark} {rest[found.end :]}"
    # Where each stands among the other references, before the names go.
    text = _ITS_TABLE.sub(r"the table of \1", " ".join(text.split()))
    made.documents = [
        (document, text.find(f"DOCREF{at}")) for at, (document, _) in enumerate(made.documents)
    ]
    if (
        len({document.id for document, _ in made.documents}) > 1
        and len(re.findall(r"DOCREF", text)) > 1
    ):
        return text, _dropped(rest)
    return _dropped(text), _dropped(rest)


def _dropped(text: str) -> str:
    text = re.sub(
        rf"{AROUND}DOCREF\d+(?:\s*(?:'s|’s)(?=\s))?(?:\s+{DOCUMENT_NOUN}\b)?\s*[:,]?",
        " ",
        text,
        flags=_I,
    )
    text = re.sub(
        r"\s*,?\s*\b(?:in|of|from|within|throughout|inside)\s+(?:the|this|that|my|your)\s+"
        rf"(?:whole\s+|entire\s+)?{DOCUMENT_NOUN}\b(?!\s*,?\s*(?:named|called))",
        " ",
        text,
        flags=_I,
    )
    return " ".join(text.split())


def _page_range(made: References, found: re.Match[str]) -> str:
    first, last = found[1], found[2]
    if re.fullmatch(NUMBER, first, _I) and re.fullmatch(NUMBER, last, _I):
        low, high = sorted((number_of(first), number_of(last)))
        if high - low < 10_000:
            made.pages.append(PageRef(numbers=tuple(range(low, high + 1)), at=found.start()))
            return f" PAGEREF{len(made.pages) - 1} "
    return found[0]


def _page_list(made: References, text: str) -> str:
    marks = []
    for part in re.findall(PAGE, text, _I):
        number = re.fullmatch(NUMBER, part, _I)
        made.pages.append(
            PageRef(numbers=(number_of(part),)) if number else PageRef(labels=(part,))
        )
        marks.append(f"PAGEREF{len(made.pages) - 1}")
    return f" {' and '.join(marks)} "


def _page_ordinal(made: References, found: re.Match[str]) -> str:
    marks = []
    for part in re.findall(ORDINAL, found[1], _I):
        place = ordinal_of(part)
        many = number_of(found[2]) if found[2] else 1
        if place == 1:
            numbers = tuple(range(1, many + 1))
        else:
            numbers = tuple(range(place - many + 1, place + 1)) if many > 1 else (place,)
        made.pages.append(PageRef(numbers=numbers))
        marks.append(f"PAGEREF{len(made.pages) - 1}")
    return f" {' and '.join(marks)} "


def _places(into: list[int], mark: str, text: str) -> str:
    return " and ".join(
        _place(into, mark, number_of(part)) for part in re.findall(rf"{NUMBER}\b", text, _I)
    )


def _place(into: list[int], mark: str, place: int) -> str:
    into.append(place)
    return f" {mark}{len(into) - 1} "


def _tables(made: References, text: str) -> str:
    def add(ref: TableRef) -> str:
        made.tables.append(ref)
        return f"TABLEREF{len(made.tables) - 1}"

    def numbered(found: re.Match[str]) -> str:
        parts = re.findall(TABLE_ID, re.sub(r"\btables?\b", " ", found[1], flags=_I), _I)
        marks = []
        for part in parts:
            number = part
            if re.fullmatch(NUMBER, part, _I) and not part.isdigit():
                number = str(number_of(part))
            marks.append(add(TableRef(number=number.replace("–", "-"))))
        return f" {' and '.join(marks)} "

    def ordinal(found: re.Match[str]) -> str:
        places = [ordinal_of(part) for part in re.findall(ORDINAL, found[1], _I)]
        if found[2] and len(places) == 1:
            many = number_of(found[2])
            places = [*range(1, many + 1)] if places[0] == 1 else [*range(-many, 0)]
        return f" {' and '.join(add(TableRef(ordinal=place)) for place in places)} "

    def words(found: re.Match[str]) -> str:
        said = _restored(made, found[1]).strip(' "')
        if not found[1].startswith("QUOTE") and (SUPERLATIVE.match(said) or not content(said)):
            return found[0]
        return f" {add(TableRef(words=said))} "

    text = TABLE_LIST.sub(numbered, text)
    text = TABLE_ORDINAL.sub(ordinal, text)
    text = TABLE_ON_PAGE.sub(lambda m: f" {add(TableRef())} on {m[1]}", text)
    if not re.search(r"\bhow many tables\b|\b(?:which|what) tables?\b", text, _I):
        text = TABLE_NAMED.sub(words, text)
        text = TABLE_CALLED.sub(words, text)
    return TABLE_THE.sub(lambda m: f" {add(TableRef())} ", text)


def _without_structure(text: str) -> str:
    """Return a question within a table without the words that say which table it is."""
    made = STRUCTURE.sub(" ", text)
    return made if content(made) else text
