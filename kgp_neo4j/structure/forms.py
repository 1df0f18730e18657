"""Which of the known forms a question has, once what it refers to is taken out."""

from __future__ import annotations

import re

from kgp_neo4j.structure.asked import Asked
from kgp_neo4j.structure.forms_within import about_document, about_page, about_table
from kgp_neo4j.structure.language import COUNT, WHICH
from kgp_neo4j.structure.phrases import FOUND, column_named, has, left_over, mentioned
from kgp_neo4j.structure.references import References

__all__ = ["asked"]


def asked(made: References) -> Asked:
    """Return the form of the question; `table` and `page` for questions within one, else ``."""
    text = made.plain
    pages, tables = len(made.pages), len(made.tables)
    for decide in (_comparison, _superlative, _count, _place, _which_tables):
        if found := decide(made, text, pages, tables):
            return found
    if tables:
        return about_table(made, text)
    if pages:
        return about_page(made, text)
    return about_document(made, text)


# --- comparisons --------------------------------------------------------------------------------

_DIFFER = (
    r"\b(?:differ\w*|distinguish\w*|compar\w+|contrast\w*|vs\.?|versus|changed?|unlike|set\s+\w+\s+"
    r"apart)\b"
)
_COMMON = r"\b(?:common|shared?|shares|sharing|both|same|overlap\w*|alike|similar\w*)\b"


def _comparison(made: References, text: str, pages: int, tables: int) -> Asked | None:
    differ, common = has(text, _DIFFER), has(text, _COMMON)
    numbers = {n for ref in made.pages for n in (*ref.numbers, *ref.labels)}
    many = max(pages, len(numbers), len(made.documents) if pages else 0)
    if tables >= 2 and (differ or common):
        if has(text, r"\b(?:columns?|headers?|headings?|fields?)\b"):
            return Asked("common_columns" if common else "different_columns")
        if has(text, r"\b(?:rows?|entries|records)\b"):
            return Asked("common_rows")
        if len(left_over(text, "main key big difference differences")) <= 3:
            return Asked("compare_tables")
    if many >= 2 and pages and (differ or (common and has(text, r"\bin common\b|\bshare"))):
        return Asked("compare_pages")
    if pages == 1 and tables == 1 and differ:
        return Asked("compare_page_and_table")
    return None


# --- superlatives -------------------------------------------------------------------------------

_MOST = r"(?:most|(?:highest|largest|greatest|biggest|maximum)\s+(?:number|count|amount)\s+of)"
_LEAST = r"(?:fewest|least|(?:lowest|smallest|minimum)\s+(?:number|count|amount)\s+of)"
_BIG = r"(?:longest|biggest|largest|widest|greatest)"
_SMALL = r"(?:shortest|smallest|narrowest)"
_SIZES = (
    "longest biggest largest widest greatest shortest smallest narrowest terms document file pdf "
    "words word length size longer of by"
)


def _superlative(made: References, text: str, pages: int, tables: int) -> Asked | None:
    if tables or pages > 1:
        return None
    found = re.search(
        rf"\b({_MOST}|{_LEAST})\s+(tables?|rows?|entries|records|columns?|pages?|words?|text|"
        r"characters?|cells)\b",
        text,
        re.IGNORECASE,
    )
    whats = r"\b(page|table|document|file|pdf)s?\b"
    what = re.search(whats, text, re.IGNORECASE) or re.search(whats, made.question, re.IGNORECASE)
    if what and re.search(r"\bwhich\s+of\s+the\s+(document|file|pdf)s\b", made.question, re.I):
        what = re.search(r"\b(document|file|pdf)s\b", made.question, re.IGNORECASE) or what
    if found and what and (what.string != text or what.start() < found.start()):
        least = "least" if re.fullmatch(_LEAST, found[1], re.IGNORECASE) else "most"
        noun = found[2].casefold().rstrip("s").replace("entrie", "row").replace("record", "row")
        noun = {"text": "word", "character": "word"}.get(noun, noun)
        kind = {"file": "document", "pdf": "document"}.get(what[1].casefold(), what[1].casefold())
        return Asked(f"{kind}_by_{noun}", least)
    found = re.search(
        rf"\b({_BIG}|{_SMALL})\b(?:\s+(?:of\s+(?:all\s+)?(?:the\s+)?)?(page|table|document|"
        rf"file)s?)?",
        text,
        re.IGNORECASE,
    )
    if found and what:
        least = "least" if re.fullmatch(_SMALL, found[1], re.IGNORECASE) else "most"
        kind = (found[2] or what[1]).casefold()
        kind = {"file": "document", "pdf": "document"}.get(kind, kind)
        by = {"page": "word", "document": "page"}.get(kind, "row")
        if kind == "table" and (
            found[1].casefold() in ("widest", "narrowest") or has(text, r"\bcolumns?\b")
        ):
            by = "column"
        if not left_over(text, _SIZES):
            return Asked(f"{kind}_by_{by}", least)
    return None


# --- counts -------------------------------------------------------------------------------------

_COUNTED = re.compile(
    rf"\b(?:{COUNT})\b(?:\s+of)?(?:\s+(?:the|all|different|separate|individual|distinct|total|in|"
    r"data|body|table|printed|its))*"
    r"\s+(pages?|tables?|columns?|fields?|rows?|entries|records|lines|words?|characters?|letters|"
    r"sentences?|paragraphs?|times|occurrences?|mentions?|headings?|sections?|cells?|documents?|"
    r"files?|captions?|different\s+pages)\b",
    re.IGNORECASE,
)
_COUNT_OF = re.compile(
    r"\b(page|table|column|row|word|sentence|paragraph|character|line)[- ](?:count|total)\b"
    r"|\bhow\s+(?:long|big|large)\b.*?\b(pages|rows|columns|words|lines)\b|\b(?:length|"
    r"long)\b.*\bin\s+(pages|words)\b",
    re.IGNORECASE,
)


def _count(made: References, text: str, pages: int, tables: int) -> Asked | None:
    found = _COUNTED.search(text) or _COUNT_OF.search(text)
    if not found:
        if has(text, r"\bhow\s+often\b|\bnumber of (?:times|mentions|occurrences)\b"):
            return _counted(made, text, "times", pages, tables)
        return None
    noun = next(filter(None, found.groups())).casefold().split()[-1].rstrip("s")
    noun = {"entrie": "row", "record": "row", "field": "column", "occurrence": "time",
            "mention": "time", "file": "document"}.get(noun, noun)  # fmt: skip
    return _counted(made, text, noun, pages, tables)


def _counted(made: References, text: str, noun: str, pages: int, tables: int) -> Asked | None:
    noun = noun.rstrip("s")
    if noun == "time":
        target = mentioned(made)
        return Asked("count_times", target) if target and not tables else None
    if noun == "page":
        if tables:
            return Asked("pages_of_table", "count")
        if has(text, r"\b(?:tables?)\b"):
            return Asked("pages_with_tables", "count")
        target = mentioned(made)
        return Asked("pages_mentioning", f"#{target}") if target else Asked("count_pages")
    if noun == "table":
        if has(text, r"\b(?:each|every|per)\s+page\b"):
            return Asked("tables_per_page")
        if has(text, r"\bcolumns?\b"):
            return Asked("tables_with_column", f"#{column_named(made)}")
        if left_over(text, "document documents file corpus appear appears together there"):
            return None if not pages else Asked("count_tables")
        return Asked("count_tables")
    if noun == "document":
        return Asked("count_documents") if has(text, r"\btables?|pages?|corpus\b") else None
    if noun in ("column", "row", "cell", "line") and tables:
        left = left_over(
            text,
            "header headers data body counted title there made consist consists different count "
            "long big large lines line",
        )
        if not left and not made.quoted and not made.rows and not made.columns:
            return Asked(f"count_{'row' if noun == 'line' else noun}s")
        return None
    if noun in ("word", "character", "letter", "sentence", "paragraph", "line", "heading",
                "section") and pages and not tables:  # fmt: skip
        return Asked(f"count_{noun}s_of_page")
    return None


# --- places -------------------------------------------------------------------------------------

_WHICH_PAGE = (
    r"\b(?:which|what|whichever)\s+(?:(?:is|are)\s+the\s+)?(?:\w+\s+)?pages?\b|\bpage\s+numbers?\b"
    r"|\b(?:list|name|give|show|find|all|every|the)\b(?:\s+\w+){0,3}?\s+pages?\b"
    r"|^\s*pages?\b(?=.*\b(?:mention|contain|with|where))"
)
_STANDS = (
    "appear appears located location find placed contains positioned starts start begin begins "
    "span "
    "spans extend extends stretch stretches cover covers run runs over where occur occurs lie lies "
    "sit sits see"
)
_WHERE = r"\bwhere(?:abouts)?\b|\blocat\w+\b"
_FIRST = (
    r"\bfirst\b|\bearliest\b|\binitially\b|\bintroduced\b|\bstart(?:s|ing)?\s+(?:to\s+)?appear\w*"
)
_LAST = r"\blast(?:ly)?\b|\blatest\b|\bfinal(?:ly)?\b"


def _place(made: References, text: str, pages: int, tables: int) -> Asked | None:
    page, where = has(text, _WHICH_PAGE), has(text, _WHERE)
    if tables and (page or where) and not made.rows and not made.columns:
        if pages:
            return None
        left = left_over(text, _STANDS)
        if not left and not has(text, r"\bcolumns?|rows?|caption\b"):
            return Asked("pages_of_table")
        return None
    if tables or pages:
        if not tables and has(text, r"\b(?:printed|label|labelled|page)\s*(?:page\s*)?numbers?\b"):
            return Asked("label_of_page")
        return None
    if (
        page
        and has(text, r"\btables?\b")
        and not made.quoted
        and not left_over(text, "exist exists there without no first last")
    ):
        return Asked("pages_with_tables", "none" if has(text, r"\b(?:no|without)\b") else "")
    spoken = where and (
        bool(made.documents)
        or has(made.question, r"\b(?:in|of)\s+(?:the|this)\s+(?:document|file|pdf|report|paper)")
    )
    if page or spoken:
        target = mentioned(made)
        if target and (page or made.quoted or has(text, FOUND)):
            order = "first" if has(text, _FIRST) else "last" if has(text, _LAST) else ""
            return Asked(f"{order}_page_mentioning" if order else "pages_mentioning", target)
    return None


_ANY_TABLE = (
    r"\b(?:is|are)\s+there\b|\b(?:does|do|has|have|can|could)\b.*\b(?:a|any|some)\s+tables?\b"
    r"|\bany\s+tables?\b|^\s*(?:does|do)\b.*\b(?:have|contain|include|show|feature)\s+tables\b"
)


_WHICH_DOCUMENT = r"\b(?:which|what)\s+(?:of\s+the\s+)?(?:documents?|files?|pdfs?)\b"


def _which_tables(made: References, text: str, pages: int, tables: int) -> Asked | None:
    if tables or not has(text, r"\btables?\b"):
        return None
    if has(made.question, _WHICH_DOCUMENT):
        words = left_over(text, "document documents file files pdf pdfs about which corpus")
        return Asked("documents_with_table", " ".join(words))
    if has(text, r"\b(?:captions?|titles?)\b.*\btables?\b"):
        return Asked("captions")
    if has(text, r"\bcolumns?\b|\bfield\b") and (name := column_named(made)):
        return Asked("tables_with_column", name)
    left = left_over(
        text, "document file corpus appear appears exist exists available there on shown see"
    )
    asks_which = has(text, r"\b(?:which|what|list|name)\b")
    if not asks_which and has(text, _ANY_TABLE):
        return Asked("is_there_a_table") if not left else None
    if has(text, rf"\b{WHICH}\b|^\s*tables\b|\bwhat\b"):
        if not left:
            return Asked("list_tables")
        if has(text, r"\b(?:which|what)\s+tables?\b"):
            return Asked("tables_about", " ".join(left))
    return None
