"""The references of a question: documents, pages, tables, rows and columns, and quotations.

Each is replaced in the question by a placeholder (`PAGEREF0`, `TABLEREF0`, `ROWREF0`, `COLREF0`,
`QUOTE0`), so that the rest can be read as one of a few forms.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from kgp_neo4j.corpus.tables.outline import DocumentOutline, named_documents
from kgp_neo4j.environment.configuration import LONGEST_ASKED
from kgp_neo4j.text.values import ORDINALS, UNITS
from kgp_neo4j.text.words import FUNCTION_WORDS

Ref = TypeVar("Ref")

_NUMBERS = {word: at for at, word in enumerate(UNITS)}
_ORDINALS = ORDINALS | {"opening": 1, "last": -1, "final": -1, "closing": -1, "penultimate": -2}
_ORDINALS |= {f"{nth}{join}last": -2 for nth in ("second", "next") for join in (" to ", "-to-")}


def _alternatives(words: dict[str, int]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


#: A number in digits or words; an ordinal ("3rd", "third", "last", "next-to-last").
# Atomic: "10th" fits in two ways, and a list of n of them would in 2^n.
_NUMBER = rf"(?>\d++|{_alternatives(_NUMBERS)})"
_WHOLE = rf"{_NUMBER}\b"
ORDINAL = rf"(?>\d++(?:st|nd|rd|th)|{_alternatives(_ORDINALS)})"
#: Phrases that ask for a count, and those that ask for one of several.
COUNT = r"(?:how many|number of|(?:total|overall) (?:number|count)|count|tally)"
WHICH = r"(?:which|what|list|name|give|show|tell|every|all|any|enumerate|identify|find)"
#: The largest number of a page or row; the database takes at most 64 bits.
_LARGEST = 10**9
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
#: Words that may follow a noun that heads its phrase: "the table shows", not "the table tennis".
HEAD = (
    rf"(?=\s*(?:$|[^\w\s(]|\(?(?:PAGE|TABLE|ROW|COL|DOC)REF|\(?QUOTE)|\s+(?:{'|'.join(sorted(_STOP))}|"
    r"compar\w*|depict\w*|describ\w*|explain\w*|illustrat\w*|indicat\w*|labell?ed|mention\w*|"
    r"provid\w*|represent\w*|stat\w*|suggest\w*|summari\w*|titled|called|named)\b)"
)


def _number_of(text: str) -> int:
    """Return the number that `_NUMBER` or `ORDINAL` matched; the last is -1, that before it -2."""
    text = " ".join(text.casefold().split())
    digits = re.match(r"\d+", text)
    return min(int(digits[0]), _LARGEST) if digits else (_NUMBERS | _ORDINALS)[text]


def content(text: str) -> list[str]:
    """Return the words of a text in lower case that are not stop words."""
    return [word for word in map(str.casefold, _WORD.findall(text)) if word not in _STOP]


_I = re.IGNORECASE
_POLITE = re.compile(
    r"(?i)^(?:(?:please|hi|hello|hey)[,!]?\s+)*(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|"
    r"i\s+(?:want|need|would\s+like)\s+(?:you\s+)?to\s+)?"
    r"(?:(?:tell\s+me|know|find\s+out|say)[,:]?\s+(?=wh|how\b|on\b|in\b))?"
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
    rf"(?i:\b(?:the\s+)?(?:{_PAGES})(?<!p\.)(?<!p\.\s)({_PAGE}(?:{_AND}{_PAGE}(?!\s+"
    rf"(?:tables?|rows?|columns?)))*)|\bpp?\.\s*(\d+(?:{_AND}\d+)*))"
)
_NOT_FOUND_PAGE = (
    r"(?!\s+(?:that|which|where|whose|to\b|on\s+which|in\s+which|mentioning|containing|with\b|"
    r"including|having|has\b|have\b|showing|discussing|of\s+mention|number|QUOTE))"
)
_PAGE_ORDINAL = re.compile(
    rf"(?i:\b(?:the\s+)?(?:very\s+)?({ORDINAL}(?:(?:\s*,\s*|\s+and\s+|\s+or\s+)(?:the\s+)?"
    rf"{ORDINAL})*)\s+(?:({_NUMBER})\s+)?pages?\b{_NOT_FOUND_PAGE})"
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
    rf"(?i:\b(?:the\s+)?(?:very\s+)?({ORDINAL}(?:\s+and\s+(?:the\s+)?{ORDINAL})*)\s+"
    rf"(?:({_NUMBER})\s+)?tables?\b(?!\s+(?:that|which|where|with\s+a\b)|\s+of\s+contents))"
)
_ADJECTIVE = r"(?:only|single|one|big|large|small|whole|entire|given|same|following|data|main|full)"
_TABLE_NAMED = re.compile(
    r"(?i)\b(?:the|this|that)\s+table\s+(?:(?:that\s+is\s+|which\s+is\s+)?"
    r"(?:about|titled|entitled|called|named|captioned|labell?ed|concerning|regarding|with\s+the\s+"
    r"(?:title|caption|name))|(?:that|which)\s+(?:lists?|shows?|gives?|compares?|describes?)|"
    r"listing|showing|comparing|describing|with|of)\s+(?!contents)"
    r"(?!(?:the\s+)?(?:most|fewest|highest|least)\b)(QUOTE\d+|[^,?]+?)"
    r"(?=,|\?|$|\s+(?:on|in|from|of|have|has|is|are|does|do|contain|appear|stand|say)\b)"
)
_NOT_NAMING = (
    r"(?!(?:the|of|in|on|at|by|from|for|is|are|was|a|an|and|or|does|do|did|has|have|with|to|that|"
    r"which|what|this|there|columns?|rows?|pages?|captions?|headers?|headings?|titles?|cells?|"
    r"values?|"
    r"numbers?|names?|entr(?:y|ies)|COLREF\d+|ROWREF\d+|PAGEREF\d+|first|last)\b)"
)
_TABLE_CALLED = re.compile(
    rf"(?i)\bthe\s+(QUOTE\d+|(?:{_NOT_NAMING}[\w&/'’-]+\s+){{1,6}}?)\s*table\b"
    rf"(?!s|\s+of\s+contents|\s+name){HEAD}"
)
_TABLE_THE = re.compile(
    rf"(?i:\b(?:the|this|that)\s+(?:{_ADJECTIVE}\s+)*(?-i:table|TABLE)\b{HEAD}"
    r"(?!\s+of\s+contents|\s+(?:counts?|captions?|titles?|names?|numbers?)\b|\s+(?:with|having|"
    r"that\s+has|which\s+has|containing)\s+(?:the\s+)?(?:most|fewest|highest|largest|greatest|"
    r"least|maximum|minimum|lowest|smallest)\b))"
)
_SUPERLATIVE = re.compile(r"^(?:\w*(?:est)|most|fewest|next|previous|each|every|no|any)\b", _I)


def _by_place(listed: str, placed: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of "rows 1, 2 and 3" and of "the third row"."""
    more = rf"{_AND}(?:the\s+)?(?:{listed}\s*)?{_WHOLE}"
    return (
        re.compile(rf"\b(?:the\s+)?{listed}\s*{_NO}({_WHOLE}(?:{more})*)", _I),
        re.compile(rf"\b(?:the\s+)?(?:very\s+)?({ORDINAL})\s+{placed}\b", _I),
    )


_COLUMNS = _by_place(r"(?:columns?|cols?\.?|fields?)", r"(?:table\s+)?(?:column|field)")
_ROWS = _by_place(
    r"(?:data\s+)?(?:rows?|entry|entries|records?)",
    r"(?:(?:data|body|table)\s+)?(?:row|entry|record)",
)
_AROUND = (
    r"(?:\s*,?\s*\b(?:in|of|from|within|inside|for|by|on|at|throughout|across)\s+)?"
    rf"(?:(?:the|this|that|my)\s+)?(?:{_DOCUMENT_NOUN}\s+)?(?:(?:named|called|titled)\s+)?"
)
_STRUCTURE = re.compile(
    rf"(?i)(?:\s*,?\s*\b(?:in|of|from|on|within|according\s+to|based\s+on|per|see)\s+)?"
    rf"(?:(?:the\s+)?(?:{_PAGE_RANGE.pattern}|{_TABLE_LIST.pattern}|{_TABLE_ORDINAL.pattern}|"
    rf"{_PAGE_LIST.pattern}|{_PAGE_ORDINAL.pattern}|{_TABLE_THE.pattern}))\s*[:,]?"
)
#: A document's placeholder, and "the document", with the words that join them to a question.
_DOCUMENT_NAMED = re.compile(
    rf"{_AROUND}DOCREF\d+(?:\s*(?:'s|’s)(?=\s))?(?:\s+{_DOCUMENT_NOUN}\b)?\s*[:,]?", _I
)
_THE_DOCUMENT = re.compile(
    r"(?i)\s*,?\s*\b(?:in|of|from|within|throughout|inside)\s+(?:the|this|that|my|your)\s+"
    rf"(?:whole\s+|entire\s+)?{_DOCUMENT_NOUN}\b(?!\s*,?\s*(?:named|called))"
)


#: Pages as a question names them: counted numbers (-1 is the last), or a label as printed.
PageRef = tuple[int | str, ...]
#: Pages that are read at once at most, as in "the first 1000 pages".
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table as a question names it: by its number, by its place, by words, or as "the table"."""

    number: str = ""
    ordinal: int | None = None
    words: str = ""


@dataclass(slots=True)
class References:
    """The references of a question in order, and `plain`: the question with placeholders for them.

    `rest` is the question without the names of documents, pages and tables.
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


def read_references(question: str, documents: Sequence[DocumentOutline]) -> References:
    """Return the references of the question; `documents` are those that it may name."""
    references = References(question=question)
    text = _POLITE.sub("", " ".join(question[:LONGEST_ASKED].split()))
    text = _SHORT.sub(r"\1 is", text)
    text = _QUOTED.sub(partial(_quote, references), text)
    text, rest = _documents(references, text, documents)
    within = _STRUCTURE.sub(" ", rest)
    references.rest = _restored(references, within if content(within) else rest)
    pages = references.pages
    text = _PAGE_RANGE.sub(partial(_page_range, pages), text)
    text = _PAGE_LIST.sub(partial(_page_list, pages), text)
    text = _PAGE_ORDINAL.sub(lambda m: _marked(pages, "PAGEREF", _ordinals(m)), text)
    for named in _COLUMNS:
        text = named.sub(partial(_places, references.columns, "COLREF"), text)
    for named in _ROWS:
        text = named.sub(partial(_places, references.rows, "ROWREF"), text)
    references.plain = " ".join(_tables(references, text).split())
    return references


def _quote(references: References, match: re.Match[str]) -> str:
    references.quoted.append(next(filter(None, match.groups())).strip().rstrip(".,;"))
    return f" QUOTE{len(references.quoted) - 1} "


def _restored(references: References, text: str) -> str:
    for at, quoted in enumerate(references.quoted):
        text = text.replace(f"QUOTE{at} ", f'"{quoted}" ').replace(f"QUOTE{at}", f'"{quoted}"')
    return re.sub(r"\s+([?.,;!])", r"\1", " ".join(text.split())).strip(" ,")


def _documents(
    references: References, text: str, documents: Sequence[DocumentOutline]
) -> tuple[str, str]:
    """Remove documents' names; the second text, for tables, keeps those that are given in part."""
    for at, quoted in enumerate(references.quoted):
        for name in named_documents(quoted, documents):
            if name.whole and name.start == 0 and name.end == len(quoted):
                text = text.replace(f"QUOTE{at} ", f"DOCREF{len(references.documents)} ")
                references.documents += name.documents
                break
    rest = text
    for name in reversed(named_documents(text, documents)):
        mark = f"DOCREF{len(references.documents)}"
        references.documents += name.documents
        text = f"{text[: name.start]} {mark} {text[name.end :]}"
        if name.whole:
            rest = f"{rest[: name.start]} {mark} {rest[name.end :]}"
    several = len({document.id for document in references.documents}) > 1
    # Of several the names stay, to show which page or table belongs to which document.
    stay = several and text.count("DOCREF") > 1
    return " ".join(text.split()) if stay else _dropped(text), _dropped(rest)


def _dropped(text: str) -> str:
    return " ".join(_THE_DOCUMENT.sub(" ", _DOCUMENT_NAMED.sub(" ", text)).split())


def _marked(into: list[Ref], mark: str, more: Sequence[Ref]) -> str:
    """Add references, and return the placeholders for them."""
    first = len(into)
    into += more
    return f" {' and '.join(f'{mark}{at}' for at in range(first, len(into)))} "


def _page_range(pages: list[PageRef], match: re.Match[str]) -> str:
    if all(re.fullmatch(_NUMBER, end, _I) for end in match.groups()):
        low, high = sorted(map(_number_of, match.groups()))
        if high - low < 10 * _MOST:
            return _marked(pages, "PAGEREF", [tuple(range(low, high + 1))])
    return match[0]


def _page_list(pages: list[PageRef], match: re.Match[str]) -> str:
    parts = re.findall(_PAGE, match[1] or match[2], _I)
    named = [(_number_of(p) if re.fullmatch(_NUMBER, p, _I) else p,) for p in parts]
    return _marked(pages, "PAGEREF", named)


def _places(places: list[int], mark: str, match: re.Match[str]) -> str:
    named = re.findall(f"{ORDINAL}|{_WHOLE}", match[1], _I)
    return _marked(places, mark, [*map(_number_of, named)])


def _ordinals(match: re.Match[str]) -> list[tuple[int, ...]]:
    """Return the places that ordinals name: "the second and third", "the last two" (as one)."""
    many = min(_number_of(match[2]), _MOST) if match[2] else 1
    places = map(_number_of, re.findall(ORDINAL, match[1], _I))
    ends = (many if place == 1 else place for place in places)
    return [tuple(range(end - many + 1, end + 1)) for end in ends]


def _tables(references: References, text: str) -> str:
    def add(*tables: TableRef) -> str:
        return _marked(references.tables, "TABLEREF", tables)

    def numbered(match: re.Match[str]) -> str:
        numbers = []
        for part in re.findall(TABLE_ID, re.sub(r"\btables?\b", " ", match[1], flags=_I), _I):
            word = part.isalpha() and re.fullmatch(_NUMBER, part, _I)
            numbers.append(str(_number_of(part)) if word else part.replace("–", "-"))
        return add(*(TableRef(number=number) for number in numbers))

    def ordinal(match: re.Match[str]) -> str:
        return add(*(TableRef(ordinal=place) for run in _ordinals(match) for place in run))

    def words(match: re.Match[str]) -> str:
        named = _restored(references, match[1]).strip(' "')
        if not match[1].startswith("QUOTE") and (_SUPERLATIVE.match(named) or not content(named)):
            return match[0]
        return add(TableRef(words=named))

    text = _TABLE_ORDINAL.sub(ordinal, _TABLE_LIST.sub(numbered, text))
    if not re.search(r"\bhow many tables\b|\b(?:which|what) tables?\b", text, _I):
        text = _TABLE_CALLED.sub(words, _TABLE_NAMED.sub(words, text))
    return _TABLE_THE.sub(lambda _: add(TableRef()), text)
