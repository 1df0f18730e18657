"""Choose a look-up by the words of a question, without those that name what it refers to."""

from __future__ import annotations

import re

from kgp_neo4j.corpus.tables.look_up import LookUp
from kgp_neo4j.corpus.tables.references import COUNT, WHICH, References, content

__all__ = ["choose"]

#: Words of questions that ask for a page, a table or a part of one as such. A question with other
#: words asks for something within them.
_OWN = frozenset(
    "pages page tables table columns column rows row cells cell entries entry records record "
    "headers header headings heading footers footer captions caption captioned titles title "
    "titled entitled label labels labelled headed fields field name names named called sections "
    "section subsections subsection subheadings subheading outline number numbers total value "
    "values order data text document documents file files pdf pdfs report corpus contents "
    "structure topic topics information kind brief short main full running margin top bottom "
    "there each every used separate different about read see reproduce render output transcribe "
    "copy describe describes summarize summarise summary overview explain explained discuss "
    "discusses cover covers present presents provides gives lists hold holds reports illustrate "
    "illustrates depict depicts inform tell appear appears exist exists available located "
    "location placed positioned occur occurs lie lies sit sits made consists head".split()
)


def choose(made: References) -> LookUp:
    """Return the look-up that a question asks for; `question` where it asks within one."""
    for step in (_compared, _largest, _counted, _placed, _which_tables):
        if found := step(made, made.plain):
            return found
    if made.tables:
        return _of_table(made, made.plain)
    if made.pages:
        return _of_page(made, made.plain)
    if made.documents and _has(made.plain, _HEADINGS) and not _left_over(made.plain):
        return LookUp("page", "headings")
    return LookUp("question")


def _has(text: str, pattern: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _left_over(text: str, more: str = "") -> list[str]:
    """Return the words that ask for more than a page, a table or a part of one."""
    text = re.sub(r"\b(?:PAGE|TABLE|ROW|COL|DOC)REF\d+\b", " ", text)
    own = _OWN | set(more.split())
    return [word for word in content(text) if word not in own and not word.startswith("quote")]


# --- Comparisons, maxima, counts ---

_DIFFER = r"\b(?:differ\w*|distinguish\w*|compar\w+|contrast\w*|vs\.?|versus)\b"
_COMMON = r"\b(?:common|shared?|shares|sharing|both|same|overlap\w*)\b"
_COLUMNS = r"\b(?:columns|(?:each|every)\s+column|headers?|headings?|column\s+\w+s|fields)\b"


def _compared(made: References, text: str) -> LookUp | None:
    numbers = {number for ref in made.pages for number in (*ref.numbers, *ref.labels)}
    pages = max(len(made.pages), len(numbers), len(made.documents)) if made.pages else 0
    if pages + len(made.tables) < 2:
        return None
    if _has(text, _COMMON) and len(made.tables) > 1 and _has(text, _COLUMNS):
        return LookUp("compare", "columns")
    if _has(text, _DIFFER) or (_has(text, _COMMON) and not made.tables):
        return LookUp("compare") if len(_left_over(text)) <= 3 else None
    return None


_MOST = r"most|(?:highest|largest|greatest|maximum)\s+(?:number|count)\s+of"
_FEWEST = r"fewest|least|(?:lowest|smallest|minimum)\s+(?:number|count)\s+of"
_LARGE, _SMALL = r"longest|biggest|largest", r"shortest|smallest"
_EACH = r"\b(page|table|document|file|pdf)s?\b"
_NOUN = r"tables?|rows?|entries|records|columns?|pages?|cells?"
_SAME = {"entrie": "row", "record": "row", "field": "column", "occurrence": "time",
         "mention": "time", "file": "document", "pdf": "document"}  # fmt: skip


def _noun(word: str) -> str:
    word = word.casefold().split()[-1].removesuffix("s")
    return _SAME.get(word, word)


def _largest(made: References, text: str) -> LookUp | None:
    """Return a count for each page, table or document; the question asks for the largest."""
    each = re.search(_EACH, text, re.IGNORECASE) or re.search(_EACH, made.question, re.IGNORECASE)
    if made.tables or len(made.pages) > 1 or not each:
        return None
    kind = _noun(each[1])
    found = re.search(rf"\b(?:(?:{_MOST})|({_FEWEST}))\s+({_NOUN})\b", text, re.IGNORECASE)
    if found:
        part, least = _noun(found[2]), found[1]
    else:
        found = re.search(rf"\b(?:(?:{_LARGE})|({_SMALL}))\b", text, re.IGNORECASE)
        if not found or kind == "page" or _left_over(text, f"{found[0]} terms size length"):
            return None
        part, least = "row" if kind == "table" else "page", found[1]
    if kind == part:
        return None
    return LookUp("count", f"{part}s", each=kind, pick="fewest" if least else "most")  # type: ignore[arg-type]


_COUNTED = re.compile(
    rf"\b(?:{COUNT})\b(?:\s+of)?(?:\s+(?:the|all|different|separate|total|in|data))*"
    rf"\s+({_NOUN}|fields?|times|occurrences?|mentions?)\b"
    r"|\b(page|table|column|row)[- ](?:count|total)\b|\bhow\s+long\b.*?\b(pages|rows|columns)\b"
    r"|\bhow\s+often\b",
    re.IGNORECASE,
)


def _counted(made: References, text: str) -> LookUp | None:
    found = _COUNTED.search(text)
    if not found:
        return None
    noun = _noun(next(filter(None, found.groups()), "times"))
    left = _left_over(text, "count long often")
    if noun == "time" or (noun == "page" and not made.tables and not _has(text, r"\btables?\b")):
        if target := _mentioned(made):
            return LookUp("count", f"{noun}s", phrase=target)
        return LookUp("count", "pages") if (noun == "page" and made.documents) or not left else None
    if noun == "page":
        return LookUp("count", "pages") if made.tables else LookUp("tables", "pages")
    if noun == "table":
        if _has(text, r"\b(?:each|every|per)\s+page\b"):
            return LookUp("count", "tables", each="page")
        column = (_quoted(made) or _column_named(made)) if _has(text, r"\bcolumns?\b") else ""
        return LookUp("count", "tables", column=column) if column or not left else None
    if made.tables and not (left or made.quoted or made.rows or made.columns):
        return LookUp("count", f"{noun}s")
    return None


# --- Places and lists of tables ---

_WHICH_PAGE = (
    r"\b(?:which|what)\s+(?:(?:is|are)\s+the\s+)?(?:\w+\s+)?pages?\b|\bpage\s+numbers?\b"
    rf"|\b(?:{WHICH}|the)\b(?:\s+\w+){{0,3}}?\s+pages?\b|^\s*pages?\b"
)
_WHERE = r"\bwhere\b|\blocat\w+\b"
_FIRST = r"\bfirst\b|\bearliest\b"
_LAST = r"\blast(?:ly)?\b|\blatest\b"


_SPANS = "start starts begin begins end ends span spans"


def _placed(made: References, text: str) -> LookUp | None:
    page, where = _has(text, _WHICH_PAGE), _has(text, _WHERE)
    if not (page or where):
        return None
    if made.tables:
        inside = (
            made.pages or made.rows or made.columns or _has(text, r"\bcolumns?|rows?|caption\b")
        )
        return None if inside or _left_over(text, _SPANS) else LookUp("table", "pages")
    if made.pages:
        return None
    if page and _has(text, r"\btables\b") and not made.quoted and not _left_over(text):
        return LookUp("tables", "pages")
    in_documents = made.documents or _has(made.question, r"\b(?:in|of)\s+(?:the|this)\s+document\b")
    target = _mentioned(made) if page or in_documents else ""
    if target and (page or made.quoted or _has(text, _FOUND)):
        order = "first" if _has(text, _FIRST) else "last" if _has(text, _LAST) else "pages"
        return LookUp("mentions", order, phrase=target)
    return None


_ANY = r"\b(?:is|are)\s+there\b|^\s*(?:does|do|has|have|can|could)\b|\bany\s+tables?\b"


def _which_tables(made: References, text: str) -> LookUp | None:
    if made.tables or not _has(text, r"\btables?\b"):
        return None
    left = " ".join(_left_over(text))
    if _has(made.question, r"\b(?:which|what)\s+(?:of\s+the\s+)?(?:documents?|files?|pdfs?)\b"):
        return LookUp("tables", "documents", phrase=left)
    if _has(text, r"\b(?:captions?|titles?)\b.*\btables?\b"):
        return LookUp("tables", "captions")
    if _has(text, r"\bcolumns?\b|\bfield\b") and (name := _quoted(made) or _column_named(made)):
        return LookUp("tables", "names", column=name)
    if _has(text, _ANY) and not _has(text, r"\b(?:which|what)\b"):
        return LookUp("tables", "exists") if not left else None
    if _has(text, rf"\b{WHICH}\b|^\s*tables\b") and (not left or _has(text, r"\bwh\w+\s+tables?")):
        return LookUp("tables", "names", phrase=left and made.rest)
    return None


# --- One table or page ---

_CAPTION = r"\b(?:captions?|captioned|title[ds]?|called|labell?ed|names?|named|entitled|heading)\b"
_HEADINGS = r"\b(?:headings?|sections?|subheadings?|titles?|subsections?|outline)\b"
_PARTS_OF_PAGE = {
    "header": r"\bheaders?\b|\brunning\s+(?:head|title)\b",
    "footer": r"\bfooters?\b",
    "label": r"\b(?:label|labelled|page\s+numbers?)\b",
    "headings": _HEADINGS,
}
_LISTED = (
    r"\b(?:values?|list|listed|contents?|entries|everything|all|show|give|shows|print|every|"
    r"contain|data|what\s+is\s+(?:in|under)|what\s+are)\b"
)
_YES_OR_NO = (
    r"^\s*(?:(?:on|in)\s+PAGEREF\d+\s*,?\s*)?(?:is|are|does|do|did|can|could|was|were|has)\b"
)


def _of_table(made: References, text: str) -> LookUp:
    left, quoted = _left_over(text), bool(made.quoted)
    if made.rows and made.columns:
        return LookUp("cell")
    if _has(text, _YES_OR_NO) and not left:
        return LookUp("table", "exists")
    if made.columns:
        named = _has(text, _CAPTION) or _has(text, r"\bheaders?\b")
        return LookUp("question") if left else LookUp("column", "name" if named else "values")
    if made.rows:
        return LookUp("question") if left or quoted else LookUp("row")
    if not quoted and _has(text, _COLUMNS) and not left:
        return LookUp("table", "columns")
    listed = _has(text, _LISTED) and not _has(text, rf"{COUNT}|\bfor\s+(?!TABLE|all|every)\w+")
    if listed and _has(text, r"\b(?:column|field|under)\b") and (name := _column_named(made)):
        return LookUp("column", "values", column=name)
    if left or quoted or _has(text, r"\b(?:columns?|rows?)\b"):
        return LookUp("question")
    return LookUp("table", "caption" if _has(text, _CAPTION) else "rows")


def _of_page(made: References, text: str) -> LookUp:
    whole = not _left_over(text) and not made.quoted
    for part, asked in _PARTS_OF_PAGE.items():
        if whole and _has(text, asked):
            return LookUp("page", part)
    if _has(text, _YES_OR_NO) and (target := _mentioned(made)):
        return LookUp("mentions", "exists", phrase=target)
    return LookUp("page" if whole else "question")


# --- Phrases and columns ---

_MENTION = (
    r"(?:mention(?:s|ed|ing)?|refer(?:s|red|ring)?\s+to|contain(?:s|ed|ing)?|includ(?:es?|ed|ing)|"
    r"discuss(?:es|ed|ing)?|talk(?:s|ed|ing)?\s+(?:about|of)|cit(?:es?|ed|ing)|us(?:es?|ing)|"
    r"nam(?:es?|ing)|describ(?:es?|ed|ing)|cover(?:s|ed|ing)?|say(?:s|ing)?|featur(?:es?|ing)|"
    r"speak(?:s|ing)?\s+(?:of|about)|deal(?:s|ing)?\s+with|show(?:s|ing)?|have|has|having|with|"
    r"explain(?:s|ed|ing)?|list(?:s|ing)?|defin(?:es?|ed|ing)|introduc(?:es?|ed|ing)|about)"
)
_FOUND = (
    r"(?:(?:be\s+|being\s+|been\s+)?(?:mentioned|found|discussed|used|cited|referenced|named|"
    r"introduced|referred\s+to|talked\s+about|described|covered|written|located|listed|seen|"
    r"defined|explained|read|shown|printed)|appear(?:s|ing)?|occur(?:s|ring)?|come(?:s)?\s+up)"
)
_KIND = (
    r"(?:(?:the|any|a|an)\s+)?(?:(?:exact\s+)?(?:words?|terms?|phrases?|string|expression|keyword|"
    r"acronym|abbreviation|text|topic|subject)\s+)"
)
_ADVERB = r"(?:first|last|ever|also|only)"
_PHRASES = (
    # "mentions of X", "does X appear", "mention X", "is X on"
    rf"\b(?:mentions?|occurrences?|uses?|references?)\s+(?:of|to)\s+(?:{_KIND})?(?P<x>.+?)"
    r"(?:\s+(?:are|is|on|in|at|there)\b.*)?\s*[?.!]*$",
    rf"\b(?:does|do|did|is|are|was|were|can|could|will|where|that|which|pages?)\s+(?:{_KIND})?"
    rf"(?P<x>(?:(?!\b(?:does|do|is|are|was|can)\b).)+?)\s+(?:{_ADVERB}\s+)?(?:{_FOUND})\b",
    rf"\b{_MENTION}\s+(?:(?:a|any|the)\s+mentions?\s+of\s+)?(?:{_KIND})?(?P<x>.+?)"
    r"(?:\s+(?:(?:for\s+the\s+)?(?:first|last)\s+time|at\s+all|anywhere|mentioned|in\s+it))?"
    r"\s*[?.!]*$",
    rf"^(?:is|are|was|were)\s+(?:{_KIND})?(?P<x>[^?]+?)\s*[?.!]*$",
)
_NO_PHRASE = re.compile(
    rf"\b(?:{COUNT}|which|what|pages?)\b|REF"
    r"|^(?:(?:on|in|at|there|it|the|a|any|first|last|this|that|to|be)\b\s*)*$",
    re.IGNORECASE,
)


def _quoted(made: References) -> str:
    """Return the first quotation that names no document or table."""
    held = (q for at, q in enumerate(made.quoted) if re.search(rf"QUOTE{at}\b", made.plain))
    return next(held, "")


def _mentioned(made: References) -> str:
    """Return the phrase that a question looks for: a quotation, else the phrase after "mention"."""
    if quoted := _quoted(made):
        return quoted
    text = re.sub(
        r"\s*\b(?:on|in|at|of|from)\s+PAGEREF\d+(?:\s+and\s+PAGEREF\d+)*", " ", made.plain
    )
    text = " ".join(text.split())
    for pattern in _PHRASES:
        for found in re.finditer(rf"(?={pattern})", text, re.IGNORECASE):
            phrase = found["x"].strip(" ,.;:?!")
            phrase = re.sub(rf"^{_ADVERB}\s+|\s+{_ADVERB}$", "", phrase, flags=re.IGNORECASE)
            if phrase and not _NO_PHRASE.search(phrase):
                return phrase
    return ""


_COLUMN_NAMED = (
    r"\bcolumns?\s+(?:(?:named|called|titled|labell?ed|headed)\s+)?(?P<x>[^?]+?)\s*"
    r"(?:(?:TABLE|PAGE)REF.*|have|has|contain|show|list|hold)?\s*[?.]*$",
    r"\b(?:an?|the|any|in|of|under|every|all)\s+(?P<x>(?:(?!\bthe\b)[^?])+?)\s+(?:column|field)\b",
    r"\bunder\s+(?:the\s+)?(?:(?:header|heading|title)\s+)?(?P<x>[^?]+?)\s*[?.]*$",
)
#: Words about a column that are not part of its name.
_NO_COLUMN = r"\b(?:has|have|is|are|was|with|where|whose|equals?)\b"


def _column_named(made: References) -> str:
    """Return the column's name in "the column X", "an X column", "under X"."""
    text = re.sub(r"\b(?:in|of|from|on|at)\s+(?:TABLE|PAGE)REF\d+\b", " ", made.plain)
    for pattern in _COLUMN_NAMED:
        found = re.search(pattern, " ".join(text.split()), re.IGNORECASE)
        if found and content(found["x"]) and not _has(found["x"], _NO_COLUMN):
            name = re.sub(r"^(?:for|of|on|about|with)\s+", "", found["x"].strip(" ,"))
            quote = re.search(r"QUOTE(\d+)", name)
            return made.quoted[int(quote[1])] if quote else name
    return ""
