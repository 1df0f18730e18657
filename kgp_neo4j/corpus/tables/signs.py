"""Decide by its words whether a question is about structure (pages, tables), content or both.

A few weighted signs decide: the references of the question, its look-up, the words that it uses,
and those of them that the corpus's own tables have.
"""

from __future__ import annotations

import re

from kgp_neo4j.corpus.tables.look_up import Context
from kgp_neo4j.corpus.tables.references import HEAD, ORDINAL
from kgp_neo4j.corpus.tables.resolving import by_words, phrases_of
from kgp_neo4j.types.tables import TypeDecision

__all__ = ["decided"]

#: The least sum of a question's signs for it to be about structure.
_ENOUGH = 0.75
#: Tables that are searched at most for columns that a question names.
_MOST_TABLES = 500

Sign = tuple[float, str]

_DETERMINER = r"(?:the|this|that|each|every|which|what|how\s+many|all|any|list)"
_NOUN = r"(?:pages?|tables?|columns?|rows?|cells?|captions?|footers?|headings?|headers?|footnotes?)"
_OF_DOCUMENT = r"(?:document|file|pdf|report|paper|article|page)"
#: A structural noun as the head of its phrase: "on the last page", not "the table tennis club".
_SPOKEN_OF = re.compile(
    rf"\b(?:on|in|from|of|to|under|at|using|per)\s+{_DETERMINER}\s+"
    rf"(?:(?!of\b|the\b)[\w'’-]+\s+){{0,3}}?{_NOUN}\b{HEAD}"
    rf"|\b(?:which|what|how\s+many|list|all|every|each|this)\s+(?:of\s+)?(?:the\s+)?{_NOUN}\b{HEAD}"
    rf"|\b{_NOUN}\s+(?:of|in|on|from)\s+(?:the|this)\s+(?:{_NOUN}|{_OF_DOCUMENT})\b",
    re.IGNORECASE,
)
_PART_NOUN = (
    r"(?:fig(?:ure)?\.?|chart|graph|diagram|image|photo|illustration|exhibit|example|section|"
    r"subsection|chapter|appendix|paragraph|slide|equation|heading|header|caption|footnote|bullet)s?"
)
_ID = r"(?:(?-i:[A-Za-z]\.)?\d+(?:\.\d+)*|(?-i:[A-Z])\b(?![\w'’.])|(?-i:(?:[A-Za-z]\.)?[IVX]+)\b)"
#: A part of a document that is named by its number, its title or its place.
_PART = re.compile(
    rf"\b(?:{_PART_NOUN}|step|line|part)\s*(?:no\.?|number|#)?\s*{_ID}"
    rf"|\b{_PART_NOUN}\s+(?:titled|called|named|labell?ed|entitled|on|about|under)\b"
    rf"|\b(?:{ORDINAL}|next|previous|concluding)\s+{_PART_NOUN}\b{HEAD}"
    rf"|\b(?:the|this|that|which|what|under)\s+(?:(?:(?!of\b)[\w'’\"&/().-]+\s+){{0,4}}?"
    rf"(?:(?:sub)?section|paragraph|heading|header|caption)|(?:(?!of\b)\w+\s+){{0,2}}?"
    rf"(?:chart|diagram|graph))s?\b(?!\s+of\b){HEAD}"
    rf"|\b{_PART_NOUN}\s+of\s+(?:the|this)\s+{_OF_DOCUMENT}\b",
    re.IGNORECASE,
)
_RANKING = re.compile(
    r"\b(?:most|least|highest|lowest|largest|smallest|biggest|greatest|fewest|maximum|minimum|"
    r"average|mean|total|sum|median|how\s+many|how\s+much|number\s+of|percentage|more|less|longest|"
    r"shortest|earliest|latest|top|first|last|difference|value|list|rank\w*|what\s+(?:is|was|are|"
    r"were)|which)\b",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"\b(?:why|explain|reason|purpose|takeaway|meaning|significance|opinion|believe|think|describe|"
    r"author'?s|argue\w*|suggest\w*|imply|implies|rewrite|summar\w+|main\s+(?:idea|point)|who)\b",
    re.IGNORECASE,
)


def decided(context: Context) -> TypeDecision:
    """Return whether a question is about structure, content or both, by its words; offline."""
    references = context.references
    signs = _signs(context)
    if sum(weight for weight, _ in signs) < _ENOUGH:
        signs += _columns_named(context)
    score = min(1.0, sum(weight for weight, _ in signs))
    reason = "; ".join(dict.fromkeys(reason for _, reason in signs)) or "no sign of structure"
    if score < _ENOUGH:
        return TypeDecision("content", score=1 - score, reason=reason)
    free = not references.tables or bool(_CONTENT.search(references.plain))
    both = free and context.look_up.kind == "question"
    return TypeDecision("both" if both else "structural", score=score, reason=reason)


def _signs(context: Context) -> list[Sign]:
    """Return the signs of structure in the words of a question, with weights."""
    references, look = context.references, context.look_up
    tables = context.library.tables(context.documents) if references.tables else []
    signs: list[Sign] = []
    if references.pages:
        signs.append((1.0, "names a page"))
    for table in references.tables:
        if table.number or table.ordinal is not None:
            signs.append((1.0, "names a table"))
        elif not table.words or by_words(context.library, table.words, tables):
            signs.append((0.8, "speaks of a table"))
    if references.rows or references.columns:
        weight = 1.0 if references.tables else 0.5
        signs.append((weight, "names a row or column by its place"))
    in_corpus = look.part == "times" and not references.documents
    if look.kind != "question" and not (references.pages or references.tables or in_corpus):
        signs.append((1.0, f"asks for a look-up of {look.kind}"))
    if _SPOKEN_OF.search(references.plain):
        signs.append((0.75, "speaks of pages, tables, rows or columns"))
    if _PART.search(references.plain):
        signs.append((0.75, "names a part of a document"))
    return signs


def _columns_named(context: Context) -> list[Sign]:
    """Return whether a question ranks, counts or looks up by columns that tables of the corpus
    have.
    """
    references, documents = context.references, context.library.documents
    if not _RANKING.search(references.plain):
        return []
    if sum(document.tables for document in documents) > _MOST_TABLES:
        documents = tuple(document for document in documents if document in references.documents)
    phrases = phrases_of(references.plain)
    best: Sign = (0.0, "")
    for table in context.library.tables(documents):
        norms = {column.norm for column in table.columns if len(column.norm) > 2}
        named = sorted(norm for norm in norms if norm in phrases or f"{norm}s" in phrases)
        if not named:
            continue
        long = any(" " in norm for norm in named)
        weight = 0.75 if len(named) > 1 else 0.5 if long else 0.25
        if references.documents:
            weight += 0.5
        if weight > best[0]:
            best = (weight, f"names columns of {table.name}: {', '.join(named)}")
    return [best] if best[0] else []
