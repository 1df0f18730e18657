"""Whether a question asks about structure (pages, tables) or content: by a model, or by its words.

KGP lets a language model decide ("we first apply LLM to classify whether the question is asking
about the document structure or content", Wang et al., AAAI 2024, section "LLM-based KG traversal
agent"). Without one, a few weighed signs of the question and of the corpus's own tables decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kgp_neo4j.database import Database
from kgp_neo4j.structure.forms import asked
from kgp_neo4j.structure.outline import Library
from kgp_neo4j.structure.references import References, read_references
from kgp_neo4j.structure.resolving import phrases_of
from kgp_neo4j.structures import TypeDecision

__all__ = ["decide", "decide_with_model", "signs"]

#: What the signs of a question must add up to for it to be about structure.
_ENOUGH = 0.75
#: More tables than this are not looked through for columns that a question names.
_MOST_TABLES = 500

Sign = tuple[float, str]

_NOUN = r"(?:pages?|tables?|columns?|rows?|cells?|captions?|footers?|headings?|headers?|footnotes?)"
#: A structural noun as such; "Jimmy Page", "table tennis" and "front page" are none.
_SPOKEN_OF = re.compile(
    rf"\b(?:on|in|from|of|to|under|at|using|per)\s+(?:the|this|that|each|every|which|what|all|"
    rf"any)\s+"
    rf"(?:(?!of\b|the\b)[\w'’-]+\s+){{0,3}}?{_NOUN}\b(?!\s+(?:tennis|house|houses|setting|salt|"
    rf"top))"
    rf"|\b(?:which|what|how\s+many|list|all|every|each|this)\s+(?:the\s+)?(?:of\s+the\s+)?{_NOUN}\b"
    rf"|\b{_NOUN}\s+(?:of|in|on|from)\s+(?:the|this)\s+(?:{_NOUN}|document|file|pdf|report|"
    rf"paper)\b",
)
_IDIOMS = re.compile(
    r"\b(?:front|home|web|wikipedia|facebook|title|yellow|fan|face|new)\s*[- ]?pages?\b|"
    r"\bpage\s+turner|\b(?:round|water|dinner|pool|billiard|coffee|league|periodic|multiplication|"
    r"turn)\s*[- ]?tables?\b"
    r"|\btable\s+tennis\b|\b(?:death|skid|savile|cannery|millionaires?'?)\s+row\b|"
    r"\brow(?:ing)?\s+boat"
    r"|\b(?:newspaper|advice|gossip|weekly|spinal|fifth|marble|stone|doric|ionic|"
    r"corinthian)\s+columns?\b"
    r"|\bcolumn\s+(?:for|by)\b|\bheadings?\s+(?:towards?|to|for)\b|\bprison\s+cells?\b|"
    r"\bsingle[- ]cell\b|\b(?:stem|blood|fuel|solar|nerve|cancer|red|white|battery)[- ]cells?\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:fig(?:ure)?\.?|chart|graph|diagram|image|photo|illustration|exhibit|example|section|"
    r"chapter|appendix|paragraph|slide|equation|step|line|part)s?\s*(?:no\.?|number|#)?\s*"
    r"(?:(?-i:[A-Za-z]\.)?\d+(?:\.\d+)*|(?-i:[A-Z])\b(?![\w'’.])|(?-i:(?:[A-Za-z]\.)?[IVX]+)\b)"
    r"|\b(?:the|this|which|what)\s+(?:[\w'’-]+\s+){0,2}?(?:section|paragraph|chapter|subsection|"
    r"heading|"
    r"header|caption)s?\s+(?:titled|called|named|labell?ed|entitled|of\s+the\s+(?:document|paper|"
    r"report|article|file|pdf|page))"
    r"|\b(?:section|paragraph|chapter|heading|header|subheading)\s+(?:titled|called|named|entitled)"
    r"|\bunder\s+(?:the\s+)?(?:[\w'’\"-]+\s+){0,6}?(?:section|heading|header|subheading)\b"
    r"|\b(?:first|second|third|fourth|fifth|last|final|next|previous|concluding|opening)\s+"
    r"(?:section|paragraph|chapter|figure|chart|graph|diagram|image|photo|illustration|bullet|"
    r"heading|footnote)s?\b"
    r"|\b(?:the|this)\s+(?:[\w'’\"&/().-]+\s+){1,7}?section\b(?!\s+of\b|\s+\w+\s+(?:line|route))"
    r"|\bsection\s+(?:on|about|under|at)\b"
    r"|\b(?:the|which|this)\s+(?:[\w'’-]+\s+)?(?:figure|chart|graph|diagram)s?\s+(?:shows?|on|in|"
    r"depicts?|illustrates?|of\s+the\s+document)"
    r"|\b(?:in|on|from|by|of)\s+(?:the|this)\s+(?:[\w'’-]+\s+){0,2}?(?:graphs?|diagrams?|charts?|"
    r"figures)\b",
    re.IGNORECASE,
)
_RANKING = re.compile(
    r"\b(?:most|least|highest|lowest|largest|smallest|biggest|greatest|fewest|maximum|minimum|"
    r"average|mean|"
    r"total|sum|median|how\s+many|how\s+much|number\s+of|percentage|more|less|longest|shortest|"
    r"earliest|"
    r"latest|top|first|last|difference|value|list|rank\w*|what\s+(?:is|was|are|were)|which)\b",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"\b(?:why|explain|reason|purpose|takeaway|meaning|significance|opinion|believe|think|describe|"
    r"author'?s|argue\w*|suggest\w*|imply|implies|rewrite|summar\w+|main\s+(?:idea|point)|who)\b",
    re.IGNORECASE,
)
#: Forms that are about structure though they name no page and no table by number.
_WHOLE = frozenset(
    "count_pages count_tables list_tables is_there_a_table captions tables_with_column "
    "page_by_word "
    "page_by_table table_by_row table_by_column table_by_cell table_by_page document_by_page "
    "document_by_table pages_with_tables first_page_mentioning last_page_mentioning "
    "pages_mentioning "
    "headings_of_document".split()
)


def decide(database: Database, corpus: str, question: str) -> TypeDecision:
    """Return whether a question is about structure, content or both; offline.

    In a corpus without pages and tables every question is about content.
    """
    (state,) = database.read("structure/structured", corpus=corpus)
    if not (state["pages"] or state["tables"]):
        return TypeDecision("content", reason="the corpus has no pages and no tables")
    library = Library(database, corpus)
    made = read_references(question, library.documents)
    found = signs(made)
    if sum(weight for weight, _ in found) < _ENOUGH and state["tables"]:
        found += _columns_named(library, made)
    return decision(made, found)


def decision(made: References, found: list[Sign]) -> TypeDecision:
    """Return the type that the signs of a question speak for."""
    score = min(1.0, max(0.0, sum(weight for weight, _ in found)))
    reason = "; ".join(dict.fromkeys(reason for _, reason in found)) or "no sign of structure"
    if score < _ENOUGH:
        return TypeDecision("content", score=1 - score, reason=reason)
    form = asked(made).form
    free = form in ("", "page") or (form == "table" and bool(_CONTENT.search(made.plain)))
    return TypeDecision("both" if free else "structural", score=score, reason=reason)


def signs(made: References) -> list[Sign]:
    """Return what in the words of a question speaks for structure, with weights."""
    found: list[Sign] = []
    if made.pages:
        found.append((1.0, "names a page"))
    for table in made.tables:
        if table.number or table.ordinal is not None:
            found.append((1.0, "names a table"))
        else:
            found.append((0.8, "speaks of a table"))
    if made.rows or made.columns:
        found.append((0.5 if not made.tables else 1.0, "names a row or column by its place"))
    form = asked(made).form
    if form in _WHOLE:
        found.append((1.0, f"asks as in “{form.replace('_', ' ')}”"))
    bare = _IDIOMS.sub(" ", made.plain)
    if _SPOKEN_OF.search(bare):
        found.append((0.75, "speaks of pages, tables, rows or columns"))
    if _PART.search(bare):
        found.append((0.75, "names a part of a document"))
    if _IDIOMS.search(made.plain) and not made.tables and form not in _WHOLE:
        found.append((-0.3, "uses such a word in another sense"))
    return found


def _columns_named(library: Library, made: References) -> list[Sign]:
    """Whether a question ranks, counts or looks up by columns that tables of the corpus have."""
    if not _RANKING.search(made.plain):
        return []
    documents = [document for document in library.documents if document.tables]
    if sum(document.tables for document in documents) > _MOST_TABLES:
        if not made.documents:
            return []
        named = {document.id for document, _ in made.documents}
        documents = [document for document in documents if document.id in named]
    phrases = phrases_of(made.plain)
    best: Sign = (0.0, "")
    for table in library.tables(documents):
        norms = {column.norm for column in table.columns if len(column.norm) > 2}
        named_columns = {norm for norm in norms if norm in phrases or f"{norm}s" in phrases}
        long = any(" " in norm for norm in named_columns)
        weight = 0.75 if len(named_columns) > 1 else 0.5 if long else 0.25 if named_columns else 0.0
        if made.documents and named_columns:
            weight += 0.5
        if weight > best[0]:
            best = (weight, f"names columns of {table.name}: {', '.join(sorted(named_columns))}")
    return [best] if best[0] else []


# --- by a model ---------------------------------------------------------------------------------

_TASK = (
    "Some questions about documents ask about their structure: they name pages, tables, rows, "
    "columns "
    "or sections, or ask which or how many of them there are. Others ask about content: facts that "
    "the text states, wherever it states them. Some do both.\nQuestion: {question}\n"
    "Reply with one word: structural, content or both."
)
_TYPES = ("structural", "content", "both")


def decide_with_model(
    database: Database, corpus: str, question: str, write: Callable[[str], str]
) -> TypeDecision:
    """Return what a language model decides; `write` takes a prompt and returns the reply.

    A reply that says none of the three words, or several, leaves it to `decide`. In a corpus
    without pages and tables the model is not asked.
    """
    (state,) = database.read("structure/structured", corpus=corpus)
    if not (state["pages"] or state["tables"]):
        return TypeDecision("content", reason="the corpus has no pages and no tables")
    reply = re.sub(r"<think>.*?</think>", "", write(_TASK.format(question=question)), flags=re.S)
    said = {word for word in re.findall(r"[a-z]+", reply.casefold()) if word in _TYPES}
    if len(said) == 1:
        return TypeDecision(said.pop(), by="model", reason="a language model decided")
    made = decide(database, corpus, question)
    return TypeDecision(
        made.type, made.by, made.score, f"the model's reply could not be used; {made.reason}"
    )
