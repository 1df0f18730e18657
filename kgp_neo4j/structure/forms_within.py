"""The forms of questions about one table, one page, or a document as a whole."""

from __future__ import annotations

import re

from kgp_neo4j.structure.asked import Asked
from kgp_neo4j.structure.phrases import FOUND, MENTION, column_listed, has, left_over, mentioned
from kgp_neo4j.structure.references import References

__all__ = ["about_document", "about_page", "about_table"]

_COLUMNS = (
    r"\b(?:columns|(?:each|every)\s+column|headers?|headings?|column\s+(?:names?|headers?|titles?)"
    r"|fields)\b"
)
_NEAR = (
    r"\b(?:before|after|around|above|below|surround\w*|near|next\s+to|precede\w*|follow\w*|"
    r"introduces|refers?\s+to|mentions?)\b"
)
_RUNNING = r"\b(?:text|paragraphs?|sentences?|stands|words|comes|what|refers?|mentions?)\b"
_AROUND = (
    "before after around above below surrounding surrounds surround near text paragraph paragraphs "
    "sentence sentences comes come stands preceding precedes follows following introduces next "
    "refer refers mention mentions immediately right directly"
)
_HEADER = (
    r"\b(?:header|running\s+(?:head|header|title)|page\s+header|head\s*line\s+at\s+the\s+top)\b"
)
_HEADINGS = r"\b(?:headings?|sections?|subheadings?|titles?|headlines?|subsections?)\b"
_ONE_HEADING = r"\b(?:main\s+|page\s+)?(?:title|heading|headline)\b(?!s)"
_IS_THERE = r"^\s*(?:is|are)\s+there\b|^\s*(?:does|do)\b.*\b(?:have|contain|include|exist)\b.*"
_HEADING_WORDS = (
    "section sections heading headings title titles subheading subheadings headline headlines "
    "subsection subsections start starts appear main"
)
_YES_OR_NO = (
    r"^\s*(?:(?:on|in)\s+PAGEREF\d+\s*,?\s*)?(?:is|are|does|do|did|can|could|was|were|has|find)\b"
)
_MENTIONED = rf"\b{MENTION}\b|\b{FOUND}\b|^\s*(?:is|are|find)\b.*\b(?:on|in)\s+PAGEREF\d"
_CAPTION = r"\b(?:captions?|captioned|title[ds]?|called|labell?ed|name|named|entitled|heading)\b"
_SHOW = (
    r"\b(?:what(?:'s|’s)?|show|display|print|give|list|contents?|contain|see|reproduce|render|"
    r"output|summari[sz]e|describe|about|lists?|tell|full|whole)\b"
)


def about_table(made: References, text: str) -> Asked:
    """Return the form of a question that names a table."""
    cells, quoted = bool(made.rows and made.columns), bool(made.quoted)
    if cells:
        return Asked("cell")
    if has(text, _IS_THERE) and not left_over(text, "exist exists corpus document there"):
        return Asked("is_there_such_a_table" if not made.pages else "is_table_on_page")
    if (
        made.pages
        and has(text, r"^\s*(?:is|are|does|do|can|was)\b")
        and not left_over(text, "appear appears located")
    ):
        return Asked("is_table_on_page")
    if made.columns:
        named = has(text, r"\b(?:headers?|headings?|names?|titles?|titled|called|labels?|headed|"
                     r"labell?ed|named|captioned)\b")  # fmt: skip
        left = left_over(
            text, "label labels headed titled labelled type kind hold holds of every show"
        )
        if left and not named:
            return Asked("table")
        if has(text, r"\b(?:type|kind)\b") and not named:
            return Asked("type_of_column")
        listed = has(text, r"\b(?:values|contents?|entries|list|everything|all|data|contain)\b")
        return Asked("name_of_column" if named else "column" if listed else "column_of_number")
    if made.rows:
        return Asked("row") if not left_over(text, "full every") and not quoted else Asked("table")
    if not quoted and has(text, _NEAR) and has(text, _RUNNING) and not left_over(text, _AROUND):
        return Asked("around_table")
    if (
        not quoted
        and has(text, _COLUMNS)
        and not left_over(text, "field used each every contain kinds different columns' there")
    ):
        return Asked("columns")
    if has(text, r"\b(?:column|field)\b|\bunder\b") and (name := column_listed(made)):
        return Asked("column", name)
    if (
        not quoted
        and has(text, _CAPTION)
        and not has(text, r"\b(?:columns?|rows?)\b")
        and not left_over(text, "captioned titled entitled label labelled full")
    ):
        return Asked("caption")
    if (
        not quoted
        and has(text, _SHOW)
        and not left_over(
            text,
            "about compare compares compared presents details detail provides gives illustrate "
            "illustrates "
            "reports depict depicts describes summarizes summarises summarize summarise describe "
            "reproduce render output see tell summary markdown "
            "lists hold holds explain information kind inform",
        )
    ):
        return Asked("caption" if has(text, r"\babout\b") else "content_of_table")
    return Asked("table")


# --- pages --------------------------------------------------------------------------------------


def about_page(made: References, text: str) -> Asked:
    """Return the form of a question that names a page."""
    unit = re.search(r"\b(sentence|line|word|paragraph|heading)s?\b", text, re.IGNORECASE)
    first = has(text, r"\b(?:first|opening|begins?|starts?|beginning|opens?)\b")
    last = has(text, r"\b(?:last|final|closing|ends?|ending|closes?|concluding|finish\w*)\b")
    if (
        (first or last)
        and not made.quoted
        and not left_over(
            text,
            "first opening begin begins start starts beginning open opens last final closing end "
            "ends ending closes concluding sentence line word paragraph heading very quote top "
            "bottom finish finishes words lines sentences",
        )
    ):
        return Asked(
            f"{'first' if first else 'last'}_of_page", unit[1].casefold() if unit else "sentence"
        )
    if has(text, _HEADER) and not left_over(text, "running head top margin page printed text"):
        return Asked("header_of_page")
    if has(text, r"\bfooters?\b|\bbottom\s+margin\b") and not left_over(
        text, "bottom margin page text"
    ):
        return Asked("footer_of_page")
    if has(text, r"\b(?:label|printed|labelled)\b") and not left_over(
        text, "label labelled printed page"
    ):
        return Asked("label_of_page")
    if has(text, _ONE_HEADING) and not left_over(text, _HEADING_WORDS):
        return Asked("first_of_page", "heading")
    if has(text, _HEADINGS) and not left_over(text, _HEADING_WORDS):
        return Asked("headings_of_page")
    if has(text, _YES_OR_NO) and (made.quoted or has(text, _MENTIONED)):  # noqa: SIM102
        if target := mentioned(made):
            return Asked("is_on_page", target)
    if not made.quoted and not left_over(
        text,
        "text summarize summarise summary about read reproduce describe see contents page pages "
        "topic information transcribe copy overview brief short main idea point gist takeaway "
        "topics "
        "mainly discuss discusses discussed talk talks cover covers covered content's concerning "
        "deal deals written explain explained",
    ):
        return Asked("content_of_page")
    return Asked("page")


def about_document(made: References, text: str) -> Asked:
    """Return the form of a question about whole documents, or all pages and tables."""
    if has(text, r"\bhow\s+long\b") and made.documents:
        return Asked("count_pages")
    if has(text, r"\b(?:headings|sections|outline|table\s+of\s+contents)\b") and made.documents:
        return (
            Asked("headings_of_document")
            if not left_over(
                text, "headings sections section outline contents document structure there"
            )
            else Asked("")
        )
    return Asked("")
