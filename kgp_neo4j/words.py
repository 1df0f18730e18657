"""How text becomes words: the one rule that keyword extraction and the Cypher files share.

A word is a run of letters, digits and their marks; a Chinese or Japanese character is a word of its
own, since those scripts write no spaces. The files under `cypher/procedures/` use the same
expression, so that a question is cut in the database exactly as the passages were.
"""

from __future__ import annotations

import unicodedata

import regex

__all__ = ["MAX_WORD", "WORD", "content_words", "title_words", "words"]

#: Longer runs are data (base64, hashes), not words that a question would name.
MAX_WORD = 64
_SINGLE = "[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]"
#: One Chinese or Japanese character, or a run of letters, digits and combining marks.
WORD = rf"{_SINGLE}|(?:(?!{_SINGLE})[\p{{L}}\p{{N}}\p{{M}}])+"
_WORD = regex.compile(WORD)
#: English words that say nothing of what a question is about.
_FUNCTION_WORDS = frozenset(
    word
    for line in (
        "a an the of in on at by for with to from and or is are was were be been being it its",
        "this that these those as who whom whose what which when where why how did does do",
        "has have had he she they his her their him them not no also but if than then there",
        "after before during between about into over under out up down i you we me my our",
        "your s t",
    )
    for word in line.split()
)
_DISAMBIGUATOR = regex.compile(r"\s*[(（][^()（）]*[)）]\s*$")


def words(text: str) -> list[str]:
    """Return the words of `text` in order, NFKC-normalised, in their own case."""
    return [w for w in _WORD.findall(unicodedata.normalize("NFKC", text)) if len(w) <= MAX_WORD]


def title_words(title: str) -> list[tuple[str, ...]]:
    """Return the word sequences that name a title: whole, and without its "(disambiguator)"."""
    whole = tuple(words(title))
    bare = tuple(words(_DISAMBIGUATOR.sub("", title)))
    return [form for form in dict.fromkeys((whole, bare)) if form]


def content_words(text: str) -> list[str]:
    """Return the words of `text` that are not function words, in lower case, each once."""
    low = (word.lower() for word in words(text))
    return [word for word in dict.fromkeys(low) if word not in _FUNCTION_WORDS]
