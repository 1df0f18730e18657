"""The phrase or column that a question is about, and which of its words say more than form."""

from __future__ import annotations

import re

from kgp_neo4j.structure.language import COUNT, content
from kgp_neo4j.structure.references import References

__all__ = ["FOUND", "MENTION", "column_listed", "column_named", "has", "left_over", "mentioned"]

_NOUNS = (
    "pages page tables table columns column rows row cells cell entries entry records record "
    "header "
    "headers heading headings footer footers caption captions title titles field fields name names "
    "called named data number numbers total cell values value order position"
)


def has(text: str, pattern: str) -> bool:
    """Return whether a pattern is found in a text, whatever the case."""
    return re.search(pattern, text, re.IGNORECASE) is not None


def left_over(text: str, more: str = "") -> list[str]:
    """Return the words that none of the forms' own words account for."""
    text = re.sub(r"\b(?:PAGE|TABLE|ROW|COL|DOC)REF\d+\b", " ", text)
    own = set(f"{_NOUNS} {more}".split())
    return [word for word in content(text) if word not in own and not word.startswith("quote")]


# --- mentions -----------------------------------------------------------------------------------

MENTION = (
    r"(?:mention(?:s|ed|ing)?|refer(?:s|red|ring)?\s+to|contain(?:s|ed|ing)?|includ(?:es?|ed|ing)|"
    r"discuss(?:es|ed|ing)?|talk(?:s|ed|ing)?\s+(?:about|of)|cit(?:es?|ed|ing)|us(?:es?|ing)|"
    r"nam(?:es?|ing)|describ(?:es?|ed|ing)|cover(?:s|ed|ing)?|say(?:s|ing)?|featur(?:es?|ing)|"
    r"speak(?:s|ing)?\s+(?:of|about)|deal(?:s|ing)?\s+with|show(?:s|ing)?|have|has|having|with|"
    r"explain(?:s|ed|ing)?|list(?:s|ing)?|defin(?:es?|ed|ing)|introduc(?:es?|ed|ing)|about)"
)
FOUND = (
    r"(?:(?:be\s+|being\s+|been\s+)?(?:mentioned|found|discussed|used|cited|referenced|named|"
    r"introduced|referred\s+to|talked\s+about|described|covered|written|located|listed|seen|"
    r"defined|explained|read|shown|printed)|appear(?:s|ing)?|occur(?:s|ring)?|come(?:s)?\s+up|"
    r"show(?:s)?\s+up|crop(?:s)?\s+up|turn(?:s)?\s+up)"
)
_KIND = (
    r"(?:(?:the|any|a|an)\s+)?(?:(?:exact\s+)?(?:word|words|term|terms|phrase|phrases|string|"
    r"expression|keyword|acronym|abbreviation|text|topic|subject)\s+)"
)
_ADVERB = r"(?:first|last|ever|also|actually|explicitly|initially|finally|only)"
_AFTER_VERB = re.compile(
    rf"\b{MENTION}\s+(?:(?:a|any|the)\s+mentions?\s+of\s+)?(?:{_KIND})?(?P<x>.+?)"
    r"(?:\s+(?:(?:for\s+the\s+)?(?:first|last)\s+time|at\s+all|anywhere|mentioned|in\s+it))?"
    r"\s*[?.!]*$",
    re.IGNORECASE,
)
_BEFORE_VERB = re.compile(
    rf"\b(?:does|do|did|is|are|was|were|can|could|will|where|that|which|page|pages)\s+(?:{_KIND})?"
    rf"(?P<x>(?:(?!\b(?:does|do|is|are|was|can)\b).)+?)\s+(?:{_ADVERB}\s+)?(?:{FOUND})\b",
    re.IGNORECASE,
)
_MENTION_OF = re.compile(
    rf"\b(?:mentions?|occurrences?|appearances?|uses?|references?|instances?)\s+(?:of|to)\s+"
    rf"(?:{_KIND})?(?P<x>.+?)(?:\s+(?:are|is|on|in|at|there)\b.*)?\s*[?.!]*$",
    re.IGNORECASE,
)
_IS_ON = re.compile(rf"(?:^(?:is|are|was|were)|\bfind)\s+(?:{_KIND})?(?P<x>[^?]+?)\s*[?.!]*$")
#: "Where is it mentioned? Give the pages."
_ASIDE = re.compile(
    r"(?<=[.?!,])\s*(?:give|list|name|tell|show)\b[^?.]*\bpages?\b[^?.]*[?.]?\s*$", re.IGNORECASE
)
_ONLY_FORM = re.compile(
    r"^(?:(?:on|in|at|there|it|the|a|any|pages?|PAGEREF\d+|first|last|which|what|this|that|to|be)\b"
    r"\s*)*$",
    re.IGNORECASE,
)


def mentioned(made: References) -> str:
    """Return the phrase that a question looks for: what it quotes, else what it mentions."""
    if made.quoted:
        names = [q for at, q in enumerate(made.quoted) if f"QUOTE{at}" in made.plain]
        if names:
            return names[0]
    text = re.sub(
        r"\s*\b(?:on|in|at|of|from)\s+PAGEREF\d+(?:\s+and\s+PAGEREF\d+)*", " ", made.plain
    )
    text = _ASIDE.sub("", text)
    text = " ".join(text.split())
    for pattern in (_MENTION_OF, _BEFORE_VERB, _AFTER_VERB, _IS_ON):
        for found in re.finditer(rf"(?={pattern.pattern})", text, re.IGNORECASE):
            phrase = found["x"].strip(" ,.;:?!")
            phrase = re.sub(rf"^{_ADVERB}\s+|\s+{_ADVERB}$", "", phrase, flags=re.IGNORECASE)
            phrase = re.sub(r"^(?:on|in)\s+(?:which|what)\s+pages?\b\s*", "", phrase, flags=re.I)
            if re.search(rf"\b(?:{COUNT}|which|what|pages?)\b|\bREF\b", phrase, re.IGNORECASE):
                continue
            if phrase and not _ONLY_FORM.match(phrase) and "REF" not in phrase:
                return phrase
    return ""


# --- columns ---------------------------------------------------------------------------------


def column_named(made: References) -> str:
    """Return the column's name in "has a column X", "an X column"."""
    names = [q for at, q in enumerate(made.quoted) if f"QUOTE{at}" in made.plain]
    if names:
        return names[0]
    for pattern in (
        r"\bcolumns?\s+(?:(?:named|called|titled|labell?ed|headed|with\s+the\s+(?:name|header|"
        r"title))\s+)?(?P<x>[^?]+?)\s*[?.]*$",
        r"\b(?:an?|the|any)\s+(?P<x>[^?]+?)\s+(?:column|field)\b",
    ):
        found = re.search(pattern, made.plain, re.IGNORECASE)
        if found and content(found["x"]):
            return re.sub(r"^(?:for|of|on|about|with)\s+", "", found["x"].strip())
    return ""


def column_listed(made: References) -> str:
    """Return the column of "list the column X", "the values of the X column", "under X"."""
    text = made.plain
    wanted = (
        r"\b(?:values?|list|listed|contents?|entries|everything|all|show|give|shows|print|every|"
        r"contain|data|what\s+is\s+(?:in|under)|what\s+are)\b"
    )
    if not has(text, wanted) or has(text, COUNT) or has(text, r"\bfor\s+(?!TABLE|all|every)\w+"):
        return ""
    text = re.sub(r"\b(?:in|of|from|on|at)\s+(?:TABLE|PAGE)REF\d+\b", " ", text)
    for pattern in (
        r"\bcolumn\s+(?:(?:named|called|titled|labell?ed|headed)\s+)?(?P<x>[^?]+?)\s*"
        r"(?:(?:TABLE|PAGE)REF.*|have|has|contain|show|list|hold)?\s*[?.]*$",
        r"\b(?:the|in|of|under|every|all)\s+(?P<x>(?:(?!\bthe\b)[^?])+?)\s+(?:column|field)\b",
        r"\bunder\s+(?:the\s+)?(?:(?:header|heading|title)\s+)?(?P<x>[^?]+?)\s*[?.]*$",
    ):
        found = re.search(pattern, " ".join(text.split()), re.IGNORECASE)
        if (
            found
            and content(found["x"])
            and not has(found["x"], r"\b(?:has|have|is|are|was|with|where|whose|equals?)\b")
        ):
            name = found["x"].strip(" ,")
            quote = re.search(r"QUOTE(\d+)", name)
            return made.quoted[int(quote[1])] if quote else name
    return ""
