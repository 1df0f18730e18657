"""Choose a look-up by the words of a question, without those that name what it refers to."""

import re

from kgp_neo4j.corpus.tables.look_up import LookUp
from kgp_neo4j.corpus.tables.references import COUNT, WHICH, References, content

#: Words of questions that ask for a page, a table or a part of one as such, besides those that
#: `content` leaves out. A question with other words asks for something within them.
_OWN = frozenset(
    "pages page tables table columns column rows row cells cell entries entry records record "
    "headings heading footers footer captions caption captioned titles title titled entitled "
    "label labels headed fields field names named called sections section outline numbers order "
    "document documents file files pdf pdfs report structure topic topics information kind "
    "running margin top bottom different reproduce output transcribe copy describe describes "
    "summarize summarise summary overview explain discuss discusses cover covers presents "
    "provides gives hold holds reports illustrates depicts exist exists location occur occurs "
    "consists head".split()
)
_I = re.IGNORECASE


def choose(references: References) -> LookUp:
    """Return the look-up that a question asks for; `question` where it asks within one."""
    text = references.plain
    for step in (_compared, _largest, _counted, _placed, _which_tables):
        if look_up := step(references, text):
            return look_up
    if references.tables:
        return _of_table(references, text)
    whole = not _left_over(text) and not references.quoted
    if references.pages:
        parts = (part for part, asked in _PARTS_OF_PAGE.items() if _has(text, asked))
        if whole and (part := next(parts, "")):
            return LookUp("page", part)
        if _has(text, _YES_OR_NO) and (target := _mentioned(references)):
            return LookUp("mentions", "exists", phrase=target)
        return LookUp("page" if whole else "question")
    headings = references.documents and _has(text, _HEADINGS) and not _left_over(text)
    return LookUp("page", "headings") if headings else LookUp("question")


def _has(text: str, pattern: str) -> bool:
    return re.search(pattern, text, _I) is not None


def _left_over(text: str, more: str = "") -> list[str]:
    """Return the words that ask for more than a page, a table or a part of one."""
    text = re.sub(r"\b(?:PAGE|TABLE|ROW|COL|DOC)REF\d+\b", " ", text)
    own = _OWN.union(more.split())
    return [word for word in content(text) if word not in own and not word.startswith("quote")]


_DIFFER = r"\b(?:differ\w*|distinguish\w*|compar\w+|contrast\w*|vs\.?|versus)\b"
_COLUMNS = r"\b(?:columns|(?:each|every)\s+column|headers?|headings?|column\s+\w+s|fields)\b"
_MOST = r"most|(?:highest|largest|greatest|maximum)\s+(?:number|count)\s+of"
_FEWEST = r"fewest|least|(?:lowest|smallest|minimum)\s+(?:number|count)\s+of"
_EACH = r"\b(page|table|document|file|pdf)s?\b"
_NOUN = r"tables?|rows?|entries|records|columns?|pages?|cells?"
_MOST_PARTS = rf"\b(?:(?:{_MOST})|({_FEWEST}))\s+({_NOUN})\b"
_LARGEST = r"\b(?:(?:longest|biggest|largest)|(shortest|smallest))\b"
_SAME = {"entrie": "row", "record": "row", "field": "column", "occurrence": "time",
         "mention": "time", "file": "document", "pdf": "document"}  # fmt: skip
_COUNTED = re.compile(
    rf"(?i)\b(?:{COUNT})\b(?:\s+of)?(?:\s+(?:the|all|different|separate|total|in|data))*"
    rf"\s+({_NOUN}|fields?|times|occurrences?|mentions?)\b"
    r"|\b(page|table|column|row)[- ](?:count|total)\b|\bhow\s+long\b.*?\b(pages|rows|columns)\b"
    r"|\bhow\s+often\b"
)


def _compared(references: References, text: str) -> LookUp | None:
    pages, tables = references.pages, references.tables
    named = {page for ref in pages for page in ref}
    count = max(len(pages), len(named), len(references.documents)) if pages else 0
    if count + len(tables) < 2:
        return None
    common = _has(text, r"\b(?:common|shared?|shares|sharing|both|same|overlap\w*)\b")
    if common and len(tables) > 1 and _has(text, _COLUMNS):
        return LookUp("compare", "columns")
    differ = _has(text, _DIFFER) or (common and not tables)
    return LookUp("compare") if differ and len(_left_over(text)) <= 3 else None


def _noun(word: str) -> str:
    word = word.casefold().split()[-1].removesuffix("s")
    return _SAME.get(word, word)


def _largest(references: References, text: str) -> LookUp | None:
    """Return a count for each page, table or document; the question asks for the largest."""
    each = re.search(_EACH, text, _I) or re.search(_EACH, references.question, _I)
    if references.tables or len(references.pages) > 1 or not each:
        return None
    kind = _noun(each[1])
    if match := re.search(_MOST_PARTS, text, _I):
        part = _noun(match[2])
    else:
        match = re.search(_LARGEST, text, _I)
        if not match or kind == "page" or _left_over(text, f"{match[0]} terms size length"):
            return None
        part = "row" if kind == "table" else "page"
    if kind == part:
        return None
    return LookUp("count", f"{part}s", each=kind, pick="fewest" if match[1] else "most")


def _counted(references: References, text: str) -> LookUp | None:
    match = _COUNTED.search(text)
    if not match:
        return None
    noun = _noun(next(filter(None, match.groups()), "times"))
    left = _left_over(text, "count long often")
    of_tables = bool(references.tables)
    if noun == "time" or (noun == "page" and not of_tables and not _has(text, r"\btables?\b")):
        # "How many times was fruit picked" counts rows, not the word in texts.
        of_words = noun == "page" or references.quoted or _has(text, _STANDS)
        if of_words and (target := _mentioned(references)):
            return LookUp("count", f"{noun}s", phrase=target)
        whole = not left or (noun == "page" and references.documents)
        return LookUp("count", "pages") if whole else None
    if noun == "page":
        return LookUp("count" if of_tables else "tables", "pages")
    if noun == "table":
        if _has(text, r"\b(?:each|every|per)\s+page\b"):
            return LookUp("tables")
        column = _has(text, r"\bcolumns?\b") and _column_named(references, quoted=True)
        return LookUp("count", "tables", column=column or "") if column or not left else None
    if of_tables and not (left or references.quoted or references.rows or references.columns):
        return LookUp("count", f"{noun}s")
    return None


_WHICH_PAGE = (
    r"\b(?:which|what)\s+(?:(?:is|are)\s+the\s+)?(?:\w+\s+)?pages?\b|\bpage\s+numbers?\b"
    rf"|\b(?:{WHICH}|the)\b(?:\s+\w+){{0,3}}?\s+pages?\b|^\s*pages?\b"
)
_FIRST = r"\bfirst\b|\bearliest\b"
_LAST = r"\blast(?:ly)?\b|\blatest\b"
_SPANS = "start starts begin begins end ends span spans"
_ANY = r"\b(?:is|are)\s+there\b|^\s*(?:does|do|has|have|can|could)\b|\bany\s+tables?\b"


def _placed(references: References, text: str) -> LookUp | None:
    page = _has(text, _WHICH_PAGE)
    if references.pages or not (page or _has(text, r"\bwhere\b|\blocat\w+\b")):
        return None
    if references.tables:
        part = references.rows or references.columns or _has(text, r"\bcolumns?|rows?|caption\b")
        return None if part or _left_over(text, _SPANS) else LookUp("table", "pages")
    if page and _has(text, r"\btables\b") and not references.quoted and not _left_over(text):
        return LookUp("tables", "pages")
    in_document = r"\b(?:in|of)\s+(?:the|this)\s+document\b"
    if page or references.documents or _has(references.question, in_document):
        target = _mentioned(references)
        if target and (page or references.quoted or _has(text, _FOUND)):
            order = "first" if _has(text, _FIRST) else "last" if _has(text, _LAST) else "pages"
            return LookUp("mentions", order, phrase=target)
    return None


def _which_tables(references: References, text: str) -> LookUp | None:
    if references.tables or not _has(text, r"\btables?\b"):
        return None
    left = " ".join(_left_over(text))
    which_document = r"\b(?:which|what)\s+(?:of\s+the\s+)?(?:documents?|files?|pdfs?)\b"
    if _has(references.question, which_document):
        return LookUp("tables", "documents", phrase=left)
    if _has(text, r"\b(?:captions?|titles?)\b.*\btables?\b"):
        return LookUp("tables", "captions")
    if _has(text, r"\bcolumns?\b|\bfield\b") and (name := _column_named(references, quoted=True)):
        return LookUp("tables", "names", column=name)
    if _has(text, _ANY) and not _has(text, r"\b(?:which|what)\b"):
        return None if left else LookUp("tables", "exists")
    if _has(text, rf"\b{WHICH}\b|^\s*tables\b") and (not left or _has(text, r"\bwh\w+\s+tables?")):
        return LookUp("tables", "names", phrase=left and references.rest)
    return None


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


def _of_table(references: References, text: str) -> LookUp:
    asks_more, quoted = bool(_left_over(text)), bool(references.quoted)
    if references.rows and references.columns:
        return LookUp("cell")
    if _has(text, _YES_OR_NO) and not asks_more:
        return LookUp("table", "exists")
    if references.columns and not asks_more:
        named = _has(text, _CAPTION) or _has(text, r"\bheaders?\b")
        return LookUp("column", "name" if named else "values")
    if references.columns or references.rows:
        return LookUp("question") if asks_more or quoted else LookUp("row")
    if not quoted and _has(text, _COLUMNS) and not asks_more:
        return LookUp("table", "columns")
    listed = _has(text, _LISTED) and not _has(text, rf"{COUNT}|\bfor\s+(?!TABLE|all|every)\w+")
    if listed and _has(text, r"\b(?:column|field|under)\b") and (name := _column_named(references)):
        return LookUp("column", "values", column=name)
    if asks_more or quoted or _has(text, r"\b(?:columns?|rows?)\b"):
        return LookUp("question")
    return LookUp("table", "caption" if _has(text, _CAPTION) else "rows")


_MENTION = (
    r"(?:(?:mention|contain|includ|discuss|cit|us|nam|describ|cover|say|featur|show|explain|list|"
    r"defin|introduc)(?:e?s|ed|ing|e)?|refer\w*\s+to|(?:talk|speak)\w*\s+(?:of|about)|"
    r"deal\w*\s+with|ha(?:ve|s|ving)|with|about)"
)
_FOUND = (
    r"(?:(?:be(?:ing|en)?\s+)?(?:\w{2,}ed(?:\s+(?:to|about))?|found|written|seen|read|shown)|"
    r"appear\w*|occur\w*|comes?\s+up)"
)
#: What says that words are asked for as they stand in texts.
_STANDS = (
    r"\b(?:mention|appear|occur|us|nam|cit|refer|quot|print|stand)\w*"
    r"|\b(?:say|said|found|written|read|comes?\s+up)\b"
)
_KIND = (
    r"(?:(?:the|any|a|an)\s+)?(?:(?:exact\s+)?(?:words?|terms?|phrases?|string|expression|keyword|"
    r"acronym|text|topic|subject)\s+)"
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
    rf"(?i)\b(?:{COUNT}|which|what|pages?)\b|REF"
    r"|^(?:(?:on|in|at|there|it|the|a|any|first|last|this|that|to|be)\b\s*)*$"
)
_ON_PAGES = re.compile(r"\s*\b(?:on|in|at|of|from)\s+PAGEREF\d+(?:\s+and\s+PAGEREF\d+)*")
_IN_TABLE = re.compile(r"\b(?:in|of|from|on|at)\s+(?:TABLE|PAGE)REF\d+\b")
_COLUMN_NAMED = (
    r"\bcolumns?\s+(?:(?:named|called|titled|labell?ed|headed)\s+)?(?P<x>[^?]+?)\s*"
    r"(?:(?:TABLE|PAGE)REF.*|have|has|contain|show|list|hold)?\s*[?.]*$",
    r"\b(?:an?|the|any|in|of|under|every|all)\s+(?P<x>(?:(?!\bthe\b)[^?])+?)\s+(?:column|field)\b",
    r"\bunder\s+(?:the\s+)?(?:(?:header|heading|title)\s+)?(?P<x>[^?]+?)\s*[?.]*$",
)
#: Words about a column that are not part of its name.
_NO_COLUMN = r"\b(?:has|have|is|are|was|with|where|whose|equals?)\b"


def _quoted(references: References) -> str:
    """Return the first quotation that names no document or table."""
    quoted = enumerate(references.quoted)
    return next((q for at, q in quoted if re.search(rf"QUOTE{at}\b", references.plain)), "")


def _mentioned(references: References) -> str:
    """Return the phrase that a question looks for: a quotation, else the phrase after "mention"."""
    if quoted := _quoted(references):
        return quoted
    text = " ".join(_ON_PAGES.sub(" ", references.plain).split())
    for pattern in _PHRASES:
        for match in re.finditer(rf"(?={pattern})", text, _I):
            phrase = match["x"].strip(" ,.;:?!")
            phrase = re.sub(rf"^{_ADVERB}\s+|\s+{_ADVERB}$", "", phrase, flags=_I)
            if phrase and not _NO_PHRASE.search(phrase):
                return phrase
    return ""


def _column_named(references: References, *, quoted: bool = False) -> str:
    """Return X in "the column X", "an X column", "under X"; one that is `quoted` goes first."""
    if quoted and (name := _quoted(references)):
        return name
    text = " ".join(_IN_TABLE.sub(" ", references.plain).split())
    for pattern in _COLUMN_NAMED:
        match = re.search(pattern, text, _I)
        if match and content(match["x"]) and not _has(match["x"], _NO_COLUMN):
            name = re.sub(r"^(?:for|of|on|about|with)\s+", "", match["x"].strip(" ,"))
            quote = re.search(r"QUOTE(\d+)", name)
            return references.quoted[int(quote[1])] if quote else name
    return ""
