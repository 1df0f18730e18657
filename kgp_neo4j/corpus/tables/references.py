"""The references of a question: documents, pages, tables, rows and columns, and quotations.

Each is replaced in the question by a placeholder (`PAGEREF0`, `TABLEREF0`, `ROWREF0`, `COLREF0`,
`QUOTE0`), so that the rest can be read as one of a few forms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kgp_neo4j.corpus.tables.outline import DocumentOutline, named_documents
from kgp_neo4j.text.words import FUNCTION_WORDS

__all__ = [
    "COUNT",
    "HEAD",
    "ORDINAL",
    "TABLE_ID",
    "WHICH",
    "PageRef",
    "References",
    "TableRef",
    "content",
    "read_references",
]

Ref = TypeVar("Ref")

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
_NUMBERS = {word: at for at, word in enumerate(_UNITS)}
_ORDINALS = {
    word: at
    for at, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth "
        "twentieth".split(),
        1,
    )
} | {"opening": 1, "last": -1, "final": -1, "closing": -1, "penultimate": -2}
_ORDINALS |= {
    f"{before}{join}last": -at
    for at, words in ((2, ("second", "next")), (3, ("third",)))
    for before in words
    for join in (" to ", "-to-", " ", "-")
}


def _alternatives(words: dict[str, int]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))


#: A number in digits or words; an ordinal ("3rd", "third", "last", "next-to-last").
_NUMBER = rf"(?:\d+|{_alternatives(_NUMBERS)})"
_WHOLE = rf"{_NUMBER}\b"
ORDINAL = rf"(?:\d+(?:st|nd|rd|th)|{_alternatives(_ORDINALS)})"
#: Phrases that ask for a count, and those that ask for one of several.
COUNT = r"(?:how many|number of|(?:total|overall) (?:number|count)|count|tally)"
WHICH = r"(?:which|what|list|name|give|show|tell|every|all|any|enumerate|identify|find)"


#: The largest number of a page or row; the database takes at most 64 bits.
_LARGEST = 10**9


def _number_of(text: str) -> int:
    """Return the number that `_NUMBER` matched."""
    text = " ".join(text.casefold().split())
    return min(int(text), _LARGEST) if text.isdigit() else _NUMBERS[text]


def _ordinal_of(text: str) -> int:
    """Return the number that `ORDINAL` matched; the last is -1, the one before it -2."""
    text = " ".join(text.casefold().split())
    found = re.match(r"\d+", text)
    return min(int(found[0]), _LARGEST) if found else _ORDINALS[text]


#: Words that do not show what is asked for once pages and tables are removed.
_STOP = FUNCTION_WORDS.union(
    "according all altogether any appear appears can complete contain contained containing "
    "contains content contents could count counting data display displayed displays each entire "
    "every everything exactly excluding find found full get give given header headers include "
    "included includes including inside it's just know let like list listed lists located look "
    "looks made make many much name number one ones only overall please present print printed "
    "provide quote read reads return said say says see show shown shows so some stand stands "
    "state tell text total us use used using value values want whats whole within without would "
    "write written".split()
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


def content(text: str) -> list[str]:
    """Return the words of a text in lower case that are not stop words."""
    found = (word.casefold() for word in _WORD.findall(text))
    return [word for word in found if word not in _STOP]


#: Words that may follow a noun that heads its phrase: "the table shows", not "the table tennis
#: club".
HEAD = (
    rf"(?=\s*(?:$|[^\w\s(]|\(?(?:PAGE|TABLE|ROW|COL|DOC)REF|\(?QUOTE)|\s+(?:{'|'.join(sorted(_STOP))}|"
    r"compar\w*|depict\w*|describ\w*|explain\w*|illustrat\w*|indicat\w*|labell?ed|mention\w*|"
    r"provid\w*|represent\w*|stat\w*|suggest\w*|summari\w*|titled|called|named)\b)"
)


# --- Patterns ---

_I = re.IGNORECASE
_POLITE = re.compile(
    r"^(?:(?:please|hi|hello|hey)[,!]?\s+)*(?:(?:can|could|would|will)\s+you\s+(?:please\s+|"
    r"kindly\s+)?|"
    r"(?:i(?:'d|’d|\s+would)\s+like\s+(?:you\s+)?to\s+|i\s+(?:want|need)\s+(?:you\s+)?to\s+))"
    r"(?:know\s+|tell\s+me\s+(?=wh|how|on|in|if)|find\s+out\s+(?=wh|how|on|in))?|"
    r"^(?:please\s+)?(?:tell\s+me|do\s+you\s+know|say)[,:]?\s+(?=wh|how\b|on\b|in\b)",
    _I,
)
_SHORT = re.compile(r"\b(what|who|where|which|how|that)(?:'|’)s\b", _I)
_QUOTED = re.compile(r"[“„\"«]([^“”„\"«»]+)[”“\"»]|(?<!\w)[‘']([^‘’']+)[’'](?!\w)|`([^`]+)`")
_DOCUMENT_NOUN = (
    r"(?:documents?|files?|pdfs?|reports?|papers?|articles?|transcripts?|workbooks?|books?|corpus)"
)
_LABEL = r"(?-i:[ivxlc]+\b|[IVXLC]+\b|[A-Z]{1,2}-?\d+\b)"
_PAGE = rf"(?:{_NUMBER}\b|{_LABEL})"
_NO = r"(?:(?:numbers?|nos?\.?|nr\.?|#)\s*)?"
_PAGES = rf"(?:pages?|pp?\.|pgs?\.?)\s*{_NO}"
_AND = r"\s*(?:,\s*(?:and|or)?|and|or|&|vs\.?|versus)\s*"
_PAGE_RANGE = re.compile(
    rf"\b(?:from\s+)?{_PAGES}({_PAGE})\s*(?:-|–|—|to|through|thru|until)\s*(?:{_PAGES})?({_PAGE})",
    _I,
)
_PAGE_LIST = re.compile(
    rf"\b(?:the\s+)?(?:{_PAGES})(?<!p\.)(?<!p\.\s)({_PAGE}(?:{_AND}{_PAGE}(?!\s+(?:tables?|rows?|"
    rf"columns?)))*)|\bpp?\.\s*(\d+(?:{_AND}\d+)*)",
    _I,
)
_NOT_FOUND_PAGE = (
    r"(?!\s+(?:that|which|where|whose|to\b|on\s+which|in\s+which|mentioning|containing|with\b|"
    r"including|having|has\b|have\b|showing|discussing|of\s+mention|number|QUOTE))"
)
_CELL_AT = re.compile(r"\bcell\s*\(\s*(\d+)\s*[,;|/]\s*(\d+)\s*\)", _I)
_PAGE_ORDINAL = re.compile(
    rf"\b(?:the\s+)?(?:very\s+)?({ORDINAL}(?:(?:\s*,\s*|\s+and\s+|\s+or\s+)(?:the\s+)?{ORDINAL})*)"
    rf"\s+(?:({_NUMBER})\s+)?pages?\b{_NOT_FOUND_PAGE}",
    _I,
)
TABLE_ID = (
    rf"(?:(?-i:[A-Z]{{1,2}})?[.-]?\d+(?:[.\-–]\d+)*(?-i:[a-z])?\b|(?-i:[IVXLC]+)\b|{_NUMBER}\b"
    r"|(?-i:[B-Z])\b)"
)
_TABLE_LIST = re.compile(
    rf"\b(?:the\s+)?tables?\s*{_NO}({TABLE_ID}(?:{_AND}(?:the\s+)?(?:tables?\s*)?{_NO}{TABLE_ID})*)",
    _I,
)
_TABLE_ORDINAL = re.compile(
    rf"\b(?:the\s+)?(?:very\s+)?({ORDINAL}(?:\s+and\s+(?:the\s+)?{ORDINAL})*)\s+(?:({_NUMBER})\s+)?"
    r"tables?\b(?!\s+(?:that|which|where|with\s+a\b)|\s+of\s+contents)",
    _I,
)
_ADJECTIVE = r"(?:only|single|one|big|large|small|whole|entire|given|same|following|data|main|full)"
_TABLE_ON_PAGE = re.compile(
    rf"(?:(?:the|this|that)\s+(?:{_ADJECTIVE}\s+)?)?(PAGEREF\d+)(?:'s|’s|\s+of)?\s+table\b(?!s)",
    _I,
)
_TABLE_NAMED = re.compile(
    r"\b(?:the|this|that)\s+table\s+(?:(?:that\s+is\s+|which\s+is\s+)?"
    r"(?:about|titled|entitled|called|named|captioned|labell?ed|concerning|regarding|with\s+the\s+"
    r"(?:title|caption|name))|(?:that|which)\s+(?:lists?|shows?|gives?|compares?|describes?)|"
    r"listing|showing|comparing|describing|with|of)\s+(?!contents)"
    r"(?!(?:the\s+)?(?:most|fewest|highest|least)\b)(QUOTE\d+|[^,?]+?)"
    r"(?=,|\?|$|\s+(?:on|in|from|of|have|has|is|are|does|do|contain|appear|stand|say)\b)",
    _I,
)
_NOT_NAMING = (
    r"(?!(?:the|of|in|on|at|by|from|for|is|are|was|a|an|and|or|does|do|did|has|have|with|to|that|"
    r"which|what|this|there|columns?|rows?|pages?|captions?|headers?|headings?|titles?|cells?|"
    r"values?|"
    r"numbers?|names?|entr(?:y|ies)|COLREF\d+|ROWREF\d+|PAGEREF\d+|first|last)\b)"
)
_TABLE_CALLED = re.compile(
    rf"\bthe\s+(QUOTE\d+|(?:{_NOT_NAMING}[\w&/'’-]+\s+){{1,6}}?)\s*table\b"
    rf"(?!s|\s+of\s+contents|\s+name){HEAD}",
    _I,
)
_TABLE_THE = re.compile(
    rf"\b(?:the|this|that)\s+(?:{_ADJECTIVE}\s+)*(?-i:table|TABLE)\b{HEAD}(?!\s+of\s+contents|"
    rf"\s+(?:counts?|captions?|titles?|names?|numbers?)\b|\s+(?:with|having|that\s+"
    r"has|which\s+has|containing)\s+(?:the\s+)?(?:most|fewest|highest|largest|greatest|least|"
    r"maximum|minimum|lowest|smallest)\b)",
    _I,
)
_SUPERLATIVE = re.compile(r"^(?:\w*(?:est)|most|fewest|next|previous|each|every|no|any)\b", _I)


def _listed(noun: str) -> re.Pattern[str]:
    """Return the pattern of "rows 1, 2 and 3"."""
    more = rf"{_AND}(?:the\s+)?(?:{noun}\s*)?{_WHOLE}"
    return re.compile(rf"\b(?:the\s+)?{noun}\s*{_NO}({_WHOLE}(?:{more})*)", _I)


def _placed(noun: str) -> re.Pattern[str]:
    """Return the pattern of "the third row"."""
    return re.compile(rf"\b(?:the\s+)?(?:very\s+)?({ORDINAL})\s+{noun}\b", _I)


_ROW_LIST = _listed(r"(?:data\s+)?(?:rows?|entry|entries|records?)")
_ROW_ORDINAL = _placed(r"(?:(?:data|body|table)\s+)?(?:row|entry|record)")
_COLUMN_LIST = _listed(r"(?:columns?|cols?\.?|fields?)")
_COLUMN_ORDINAL = _placed(r"(?:table\s+)?(?:column|field)")
_AROUND = (
    r"(?:\s*,?\s*\b(?:in|of|from|within|inside|for|by|on|at|throughout|across)\s+)?"
    rf"(?:(?:the|this|that|my)\s+)?(?:{_DOCUMENT_NOUN}\s+)?(?:(?:named|called|titled)\s+)?"
)


_STRUCTURE = re.compile(
    rf"(?:\s*,?\s*\b(?:in|of|from|on|within|according\s+to|based\s+on|per|see)\s+)?"
    rf"(?:(?:the\s+)?(?:{_PAGE_RANGE.pattern}|{_TABLE_LIST.pattern}|{_TABLE_ORDINAL.pattern}|"
    rf"{_PAGE_LIST.pattern}|{_PAGE_ORDINAL.pattern}|{_TABLE_THE.pattern}))\s*[:,]?",
    _I,
)


# --- References ---


@dataclass(frozen=True, slots=True)
class PageRef:
    """Pages as a question names them: counted numbers (-1 is the last), or labels as printed."""

    numbers: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table as a question names it: by its number, by its place, by words, or as "the table"."""

    number: str = ""
    ordinal: int | None = None
    words: str = ""


@dataclass(slots=True)
class References:
    """The references of a question, and `plain`: the question with placeholders for them.

    `rest` is the question without the names of documents, pages and tables, but otherwise as it was
    written. `documents` has the named documents in order.
    """

    question: str
    plain: str = ""
    rest: str = ""
    pages: list[PageRef] = field(default_factory=list)
    tables: list[TableRef] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    quoted: list[str] = field(default_factory=list)
    documents: list[DocumentOutline] = field(default_factory=list)

    def place(self, placeholder: str) -> int:
        """Return the offset of a placeholder in `plain`; -1 where it is missing."""
        return self.plain.find(placeholder)


#: Characters of a question that are read at most; a longer one is a pasted page.
_LONGEST = 2_000
#: Pages that are read at once at most, as in "the first 1000 pages".
_MOST = 1_000


def read_references(question: str, documents: Sequence[DocumentOutline]) -> References:
    """Return the references of the question; `documents` are those that it may name."""
    made = References(question=question)
    text = " ".join(question[:_LONGEST].split())
    text = _POLITE.sub("", text)
    text = _SHORT.sub(r"\1 is", text)
    text = _QUOTED.sub(lambda m: _quote(made, m), text)
    text, rest = _documents(made, text, documents)
    made.rest = _restored(made, _without_structure(rest))
    text = _CELL_AT.sub(r"row \1, column \2", text)
    text = _PAGE_RANGE.sub(lambda m: _page_range(made, m), text)
    text = _PAGE_LIST.sub(lambda m: _page_list(made, m[1] or m[2]), text)
    text = _PAGE_ORDINAL.sub(
        lambda m: _marked(made.pages, "PAGEREF", [PageRef(run) for run in _ordinals(m)]), text
    )
    text = _places(made.columns, "COLREF", text, _COLUMN_LIST, _COLUMN_ORDINAL)
    text = _places(made.rows, "ROWREF", text, _ROW_LIST, _ROW_ORDINAL)
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
    rf"\b(?:the\s+)?(DOCREF\d+)(?:\s*(?:'s|’s))?(?:\s+{_DOCUMENT_NOUN})?(?:'s|’s)?\s+table\b(?!s)",
    _I,
)


def _documents(
    made: References, text: str, documents: Sequence[DocumentOutline]
) -> tuple[str, str]:
    """Remove the documents' names; the rest of the text is what is asked of them.

    The second text is for questions within a table: a name given only in part stays in it.
    """
    for at, quoted in enumerate(made.quoted):
        for found in named_documents(quoted, documents):
            if found.whole and found.start == 0 and found.end == len(quoted):
                text = text.replace(f"QUOTE{at} ", f"DOCREF{len(made.documents)} ")
                made.documents += found.documents
                break
    rest = text
    for found in sorted(named_documents(text, documents), key=lambda f: -f.start):
        mark = f"DOCREF{len(made.documents)}"
        made.documents += found.documents
        text = f"{text[: found.start]} {mark} {text[found.end :]}"
        if found.whole:
            rest = f"{rest[: found.start]} {mark} {rest[found.end :]}"
    text = _ITS_TABLE.sub(r"the table of \1", " ".join(text.split()))
    if len({document.id for document in made.documents}) > 1 and text.count("DOCREF") > 1:
        # The names stay, to show which page or table belongs to which document.
        return text, _dropped(rest)
    return _dropped(text), _dropped(rest)


def _dropped(text: str) -> str:
    text = re.sub(
        rf"{_AROUND}DOCREF\d+(?:\s*(?:'s|’s)(?=\s))?(?:\s+{_DOCUMENT_NOUN}\b)?\s*[:,]?",
        " ",
        text,
        flags=_I,
    )
    text = re.sub(
        r"\s*,?\s*\b(?:in|of|from|within|throughout|inside)\s+(?:the|this|that|my|your)\s+"
        rf"(?:whole\s+|entire\s+)?{_DOCUMENT_NOUN}\b(?!\s*,?\s*(?:named|called))",
        " ",
        text,
        flags=_I,
    )
    return " ".join(text.split())


def _marked(into: list[Ref], mark: str, found: Sequence[Ref]) -> str:
    """Add references, and return the placeholders for them."""
    first = len(into)
    into += found
    return f" {' and '.join(f'{mark}{at}' for at in range(first, len(into)))} "


def _page_range(made: References, found: re.Match[str]) -> str:
    first, last = found[1], found[2]
    if re.fullmatch(_NUMBER, first, _I) and re.fullmatch(_NUMBER, last, _I):
        low, high = sorted((_number_of(first), _number_of(last)))
        if high - low < 10 * _MOST:
            return _marked(made.pages, "PAGEREF", [PageRef(tuple(range(low, high + 1)))])
    return found[0]


def _page_list(made: References, text: str) -> str:
    pages = [
        PageRef((_number_of(part),)) if re.fullmatch(_NUMBER, part, _I) else PageRef(labels=(part,))
        for part in re.findall(_PAGE, text, _I)
    ]
    return _marked(made.pages, "PAGEREF", pages)


def _places(
    into: list[int], mark: str, text: str, listed: re.Pattern[str], placed: re.Pattern[str]
) -> str:
    """Replace rows or columns named by number ("rows 2 and 3") or place ("the last")."""
    text = listed.sub(
        lambda m: _marked(into, mark, [*map(_number_of, re.findall(_WHOLE, m[1], _I))]), text
    )
    return placed.sub(lambda m: _marked(into, mark, [_ordinal_of(m[1])]), text)


def _ordinals(found: re.Match[str]) -> list[tuple[int, ...]]:
    """Return the places that ordinals name: "the second and third", "the last two" (as one)."""
    many = min(_number_of(found[2]), _MOST) if found[2] else 1
    places = [_ordinal_of(part) for part in re.findall(ORDINAL, found[1], _I)]
    return [
        tuple(range(1, many + 1) if place == 1 else range(place - many + 1, place + 1))
        for place in places
    ]


def _tables(made: References, text: str) -> str:
    def add(tables: Sequence[TableRef]) -> str:
        return _marked(made.tables, "TABLEREF", tables)

    def numbered(found: re.Match[str]) -> str:
        parts = re.findall(TABLE_ID, re.sub(r"\btables?\b", " ", found[1], flags=_I), _I)
        words = [part.isalpha() and re.fullmatch(_NUMBER, part, _I) for part in parts]
        numbers = [
            str(_number_of(part)) if word else part.replace("–", "-")
            for part, word in zip(parts, words, strict=True)
        ]
        return add([TableRef(number=number) for number in numbers])

    def ordinal(found: re.Match[str]) -> str:
        return add([TableRef(ordinal=place) for run in _ordinals(found) for place in run])

    def words(found: re.Match[str]) -> str:
        said = _restored(made, found[1]).strip(' "')
        if not found[1].startswith("QUOTE") and (_SUPERLATIVE.match(said) or not content(said)):
            return found[0]
        return add([TableRef(words=said)])

    text = _TABLE_LIST.sub(numbered, text)
    text = _TABLE_ORDINAL.sub(ordinal, text)
    text = _TABLE_ON_PAGE.sub(lambda m: f"{add([TableRef()])} on {m[1]}", text)
    if not re.search(r"\bhow many tables\b|\b(?:which|what) tables?\b", text, _I):
        text = _TABLE_NAMED.sub(words, text)
        text = _TABLE_CALLED.sub(words, text)
    return _TABLE_THE.sub(lambda m: add([TableRef()]), text)


def _without_structure(text: str) -> str:
    """Return a question within a table without the words that name the table."""
    made = _STRUCTURE.sub(" ", text)
    return made if content(made) else text
