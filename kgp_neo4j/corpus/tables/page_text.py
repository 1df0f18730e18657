"""The parts of a page's text: headings and phrases; tables set apart."""

from __future__ import annotations

import re

__all__ = ["excerpt", "headings", "phrase", "word_count"]

_WORD = re.compile(r"[^\W_]+(?:[-'’.,/][^\W_]+)*")
#: Words and characters of a heading at most; characters around a match in an excerpt.
_MOST_WORDS, _MOST_CHARACTERS, _AROUND = 14, 110, 80
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*\.?|[A-Z]\.|[IVXLC]+\.|Chapter\s+\d+\.?|Appendix\b)\s+\S")
_SECTION = re.compile(r"(?:\d+(?:\.\d+)+\.?|(?:Chapter|Appendix|Section|Part)\s+[\dA-Z]+\.?)\s+\S")
_BULLET = re.compile(r"\s*(?:[•●▪◦‣·*–-]|\(?\w[.)])\s")
#: Code, the ends of sentences, and captions.
_NO_HEADING = re.compile(
    r".*(?:[=;{}<>]|\(\*|\b[A-Z]{4,}\([A-Z*])|(?!.*\b[A-Z]\.$).*[.;,:!]$"
    r"|(?:Table|Figure|Example|Fig\.)\s+[\dA-Z]"
)


def headings(text: str) -> list[str]:
    """Return the headings of a page: paragraphs that read as such and come before others."""
    paragraphs = []
    for part in re.split(r"\n\s*\n", text):
        lines = [line for line in part.split("\n") if not line.lstrip().startswith("|")]
        paragraphs.append(" ".join(" ".join(lines).split()))
    paragraphs = [paragraph for paragraph in paragraphs if paragraph]
    if marked := [part.lstrip("# ").strip() for part in paragraphs if part.startswith("#")]:
        return marked
    likely = [*filter(_is_heading, paragraphs[:-1] or paragraphs)]
    # Where headings are numbered, short lines without a number are mostly labels of figures.
    return [part for part in likely if _SECTION.match(part)] or likely


def _is_heading(paragraph: str) -> bool:
    """Return whether a paragraph reads as a heading: short, begins as one, and is no sentence."""
    words = _WORD.findall(paragraph)
    letters = [word for word in words if word[0].isalpha()]
    numbered = _NUMBERED.match(paragraph)
    if len(words) > _MOST_WORDS or len(paragraph) > _MOST_CHARACTERS:
        return False
    if _NO_HEADING.match(paragraph) or (_BULLET.match(paragraph) and not numbered):
        return False
    if not any(len(word) > 2 for word in letters):
        return False
    first: str = letters[0] if numbered else words[0]
    return first[0].isupper() or first[0].isdigit()


def word_count(text: str) -> int:
    """Return the number of words of a page, those in its tables too."""
    return len(_WORD.findall(text))


def phrase(words: str) -> re.Pattern[str]:
    """Return a pattern for a phrase as whole words: in any case, over any white space."""
    parts = r"(?:\s|\\?\||\*)+".join(map(re.escape, words.split()))
    before = r"(?<![^\W_])" if words[:1].isalnum() else ""
    after = r"(?![^\W_])" if words[-1:].isalnum() else ""
    return re.compile(before + parts + after, re.IGNORECASE)


def excerpt(text: str, match: re.Match[str]) -> str:
    """Return the words around a match, on one line."""
    start, end = max(0, match.start() - _AROUND), min(len(text), match.end() + _AROUND)
    around = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{around}{'…' if end < len(text) else ''}"
