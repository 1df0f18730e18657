"""The parts of a page's text: paragraphs, headings, sentences, words; tables set apart."""

from __future__ import annotations

import re

__all__ = [
    "excerpt",
    "headings",
    "is_heading",
    "paragraphs",
    "phrase",
    "word_count",
]

_WORD = re.compile(r"[^\W_]+(?:[-'’.,/][^\W_]+)*")
_LONGEST_HEADING = 14
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*\.?|[A-Z]\.|[IVXLC]+\.|Chapter\s+\d+\.?|Appendix\b)\s+\S")
_SECTION = re.compile(r"(?:\d+(?:\.\d+)+\.?|(?:Chapter|Appendix|Section|Part)\s+[\dA-Z]+\.?)\s+\S")
_CODE = re.compile(r"[=;{}<>]|\(\*|\b[A-Z]{4,}\([A-Z*]")
_BULLET = re.compile(r"\s*(?:[•●▪◦‣·*–-]|\(?\w[.)])\s")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a page, without the lines of tables."""
    parts = re.split(r"\n\s*\n", text)
    made = []
    for part in parts:
        lines = [line for line in part.split("\n") if not line.lstrip().startswith("|")]
        if said := " ".join(" ".join(lines).split()):
            made.append(said)
    return made


def is_heading(paragraph: str) -> bool:
    """Return whether a paragraph reads as a heading: short, begins as one, and is no sentence."""
    if paragraph.startswith("#"):
        return True
    words = _WORD.findall(paragraph)
    if not words or len(words) > _LONGEST_HEADING or len(paragraph) > 110:
        return False
    if _BULLET.match(paragraph) and not _NUMBERED.match(paragraph):
        return False
    if paragraph[-1] in ".;,:!" and not re.fullmatch(r".*\b[A-Z]\.", paragraph):
        return False
    if _CODE.search(paragraph):
        return False
    if re.match(r"(?:Table|Figure|Example|Fig\.)\s+[\dA-Z]", paragraph):
        return False
    letters = [word for word in words if word[0].isalpha()]
    if not letters or not any(len(word) > 2 for word in letters):
        return False
    first: str = words[0] if _NUMBERED.match(paragraph) is None else letters[0]
    return first[0].isupper() or first[0].isdigit()


def headings(text: str) -> list[str]:
    """Return the headings of a page: paragraphs that read as such and come before others."""
    parts = paragraphs(text)
    marked = [part.lstrip("# ").strip() for part in parts if part.startswith("#")]
    if marked:
        return marked
    made = [
        part
        for at, part in enumerate(parts)
        if is_heading(part) and (at + 1 < len(parts) or len(parts) == 1)
    ]
    # Where headings are numbered, short lines without a number are mostly labels of figures.
    return [part for part in made if _SECTION.match(part)] or made


def word_count(text: str) -> int:
    """Return the number of words of a page, those in its tables too."""
    return len(_WORD.findall(text))


def phrase(words: str) -> re.Pattern[str]:
    """Return a pattern for a phrase as whole words: in any case, over any white space."""
    parts = [re.escape(part) for part in words.split()]
    joined = r"(?:\s|\\?\||\*)+".join(parts)
    before = r"(?<![^\W_])" if words[:1].isalnum() else ""
    after = r"(?![^\W_])" if words[-1:].isalnum() else ""
    return re.compile(before + joined + after, re.IGNORECASE)


def excerpt(text: str, found: re.Match[str], around: int = 80) -> str:
    """Return the words around a match, on one line."""
    start, end = max(0, found.start() - around), min(len(text), found.end() + around)
    said = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{said}{'…' if end < len(text) else ''}"
