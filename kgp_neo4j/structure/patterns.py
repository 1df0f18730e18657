"""How questions write pages, tables, rows, columns and quotations, as regular expressions."""

from __future__ import annotations

import re

from kgp_neo4j.structure.language import NUMBER, ORDINAL

__all__ = [
    "AROUND",
    "BUT_ONE",
    "CELL_AT",
    "COLUMN_LIST",
    "COLUMN_ORDINAL",
    "DOCUMENT_NOUN",
    "PAGE",
    "PAGE_LIST",
    "PAGE_ORDINAL",
    "PAGE_RANGE",
    "POLITE",
    "QUOTED",
    "ROW_LIST",
    "ROW_ORDINAL",
    "SHORT",
    "STRUCTURE",
    "SUPERLATIVE",
    "TABLE_CALLED",
    "TABLE_ID",
    "TABLE_LIST",
    "TABLE_NAMED",
    "TABLE_ON_PAGE",
    "TABLE_ORDINAL",
    "TABLE_THE",
]

_I = re.IGNORECASE
POLITE = re.compile(
    r"^(?:(?:please|hi|hello|hey)[,!]?\s+)*(?:(?:can|could|would|will)\s+you\s+(?:please\s+|"
    r"kindly\s+)?|"
    r"(?:i(?:'d|’d|\s+would)\s+like\s+(?:you\s+)?to\s+|i\s+(?:want|need)\s+(?:you\s+)?to\s+))"
    r"(?:know\s+|tell\s+me\s+(?=wh|how|on|in|if)|find\s+out\s+(?=wh|how|on|in))?|"
    r"^(?:please\s+)?(?:tell\s+me|do\s+you\s+know|say)[,:]?\s+(?=wh|how\b|on\b|in\b)",
    _I,
)
SHORT = re.compile(r"\b(what|who|where|which|how|that)(?:'|’)s\b", _I)
QUOTED = re.compile(r"[“„\"«]([^“”„\"«»]+)[”“\"»]|(?<!\w)[‘']([^‘’']+)[’'](?!\w)|`([^`]+)`")
DOCUMENT_NOUN = (
    r"(?:documents?|files?|pdfs?|reports?|papers?|articles?|transcripts?|workbooks?|books?|corpus)"
)
_LABEL = r"(?-i:[ivxlc]+\b|[IVXLC]+\b|[A-Z]{1,2}-?\d+\b)"
PAGE = rf"(?:{NUMBER}\b|{_LABEL})"
_NO = r"(?:(?:numbers?|nos?\.?|nr\.?|#)\s*)?"
_PAGES = rf"(?:pages?|pp?\.|pgs?\.?)\s*{_NO}"
_AND = r"\s*(?:,\s*(?:and|or)?|and|or|&|vs\.?|versus)\s*"
PAGE_RANGE = re.compile(
    rf"\b(?:from\s+)?{_PAGES}({PAGE})\s*(?:-|–|—|to|through|thru|until)\s*(?:{_PAGES})?({PAGE})",
    _I,
)
PAGE_LIST = re.compile(
    rf"\b(?:the\s+)?(?:{_PAGES})(?<!p\.)(?<!p\.\s)({PAGE}(?:{_AND}{PAGE}(?!\s+(?:tables?|rows?|"
    rf"columns?)))*)|\bpp?\.\s*(\d+(?:{_AND}\d+)*)",
    _I,
)
_NOT_FOUND_PAGE = (
    r"(?!\s+(?:that|which|where|whose|to\b|on\s+which|in\s+which|mentioning|containing|with\b|"
    r"including|having|has\b|have\b|showing|discussing|of\s+mention|number|QUOTE))"
)
BUT_ONE = re.compile(
    r"\b(?:the\s+)?(?:page\s+before\s+(?:the\s+)?(?:very\s+)?last(?:\s+(?:one|page))?|"
    r"last\s+page\s+but\s+one)\b",
    _I,
)
CELL_AT = re.compile(r"\bcell\s*\(\s*(\d+)\s*[,;|/]\s*(\d+)\s*\)", _I)
PAGE_ORDINAL = re.compile(
    rf"\b(?:the\s+)?(?:very\s+)?({ORDINAL}(?:(?:\s*,\s*|\s+and\s+|\s+or\s+)(?:the\s+)?{ORDINAL})*)"
    rf"\s+(?:({NUMBER})\s+)?pages?\b{_NOT_FOUND_PAGE}",
    _I,
)
TABLE_ID = (
    rf"(?:(?-i:[A-Z]{{1,2}})?[.-]?\d+(?:[.\-–]\d+)*(?-i:[a-z])?\b|(?-i:[IVXLC]+)\b|{NUMBER}\b"
    r"|(?-i:[B-Z])\b)"
)
TABLE_LIST = re.compile(
    rf"\b(?:the\s+)?tables?\s*{_NO}({TABLE_ID}(?:{_AND}(?:the\s+)?(?:tables?\s*)?{_NO}{TABLE_ID})*)",
    _I,
)
TABLE_ORDINAL = re.compile(
    rf"\b(?:the\s+)?(?:very\s+)?({ORDINAL}(?:\s+and\s+(?:the\s+)?{ORDINAL})*)\s+(?:({NUMBER})\s+)?"
    r"tables?\b(?!\s+(?:that|which|where|with\s+a\b)|\s+of\s+contents|\s+tennis)",
    _I,
)
_ADJECTIVE = r"(?:only|single|one|big|large|small|whole|entire|given|same|following|data|main|full)"
TABLE_ON_PAGE = re.compile(
    rf"(?:(?:the|this|that)\s+(?:{_ADJECTIVE}\s+)?)?(PAGEREF\d+)(?:'s|’s|\s+of)?\s+table\b(?!s)", _I
)
TABLE_NAMED = re.compile(
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
    r"periodic|round|water|dinner|pool|coffee|billiard|multiplication|operating|values?|"
    r"numbers?|names?|entr(?:y|ies)|COLREF\d+|ROWREF\d+|PAGEREF\d+|first|last)\b)"
)
TABLE_CALLED = re.compile(
    rf"\bthe\s+(QUOTE\d+|(?:{_NOT_NAMING}[\w&/'’-]+\s+){{1,6}}?)\s*table\b"
    r"(?!s|\s+of\s+contents|\s+tennis|\s+name)",
    _I,
)
TABLE_THE = re.compile(
    rf"\b(?:the|this|that)\s+(?:{_ADJECTIVE}\s+)*(?-i:table|TABLE)\b(?!\s+of\s+contents|"
    rf"\s+(?:counts?|captions?|titles?|names?|numbers?)\b|\s+(?:with|having|that\s+"
    r"has|which\s+has|containing)\s+(?:the\s+)?(?:most|fewest|highest|largest|greatest|least|"
    r"maximum|minimum|lowest|smallest)\b)",
    _I,
)
SUPERLATIVE = re.compile(r"^(?:\w*(?:est)|most|fewest|next|previous|each|every|no|any)\b", _I)
ROW_LIST = re.compile(
    rf"\b(?:the\s+)?(?:data\s+)?(?:rows?|entry|entries|records?)\s*{_NO}({NUMBER}\b(?:{_AND}"
    rf"(?:the\s+)?(?:rows?\s*)?{NUMBER}\b)*)",
    _I,
)
ROW_ORDINAL = re.compile(
    rf"\b(?:the\s+)?(?:very\s+)?({ORDINAL})\s+(?:data\s+|body\s+|table\s+)?(?:row|entry|record)\b",
    _I,
)
COLUMN_LIST = re.compile(
    rf"\b(?:the\s+)?(?:columns?|cols?\.?|fields?)\s*{_NO}({NUMBER}\b(?:{_AND}"
    rf"(?:the\s+)?(?:columns?\s*)?{NUMBER}\b)*)",
    _I,
)
COLUMN_ORDINAL = re.compile(
    rf"\b(?:the\s+)?(?:very\s+)?({ORDINAL})\s+(?:table\s+)?(?:column|field)\b", _I
)


AROUND = (
    r"(?:\s*,?\s*\b(?:in|of|from|within|inside|for|by|on|at|throughout|across)\s+)?"
    rf"(?:(?:the|this|that|my)\s+)?(?:{DOCUMENT_NOUN}\s+)?(?:(?:named|called|titled)\s+)?"
)


STRUCTURE = re.compile(
    rf"(?:\s*,?\s*\b(?:in|of|from|on|within|according\s+to|based\s+on|per|see)\s+)?"
    rf"(?:(?:the\s+)?(?:{PAGE_RANGE.pattern}|{TABLE_LIST.pattern}|{TABLE_ORDINAL.pattern}|"
    rf"{PAGE_LIST.pattern}|{PAGE_ORDINAL.pattern}|{TABLE_THE.pattern}))\s*[:,]?",
    _I,
)
