"""Split text into words: the one rule that keyword extraction and the Cypher files share.

`cypher/include/words.cypher` has the same expression, so that the database splits a question
exactly as the passages were split.
"""

import itertools
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import regex
import snowballstemmer

#: Characters of a word at most; longer runs are data (base64, hashes), which no question names.
MAX_WORD = 64
#: One Chinese or Japanese character.
SINGLE = r"[\p{Han}\p{Hiragana}\p{Katakana}ー〆]"
#: Such a character, or a run of letters, digits and combining marks.
WORD = rf"{SINGLE}|(?:(?!{SINGLE})[\p{{L}}\p{{N}}\p{{M}}])+"
#: The same words by sets of characters, which is many times faster to search for; in a group, so
#: that `split` gives them too.
_WORDS = regex.compile(rf"({SINGLE}|[[\p{{L}}\p{{N}}\p{{M}}]--{SINGLE}]+)", regex.V1)
#: The same in text that is ASCII alone.
_ASCII_WORDS = re.compile(r"([A-Za-z0-9]+)")
#: Lists of English words, by their names in words.toml.
LISTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
#: English words that do not show what a question is about.
FUNCTION_WORDS = frozenset(LISTS["function"].split())
#: English words with which no keyword begins or ends.
STOP_WORDS = FUNCTION_WORDS.union(LISTS["stop"].split())
#: Forms of English verbs that no ending makes, and those that stand in dictionaries.
PAST_FORMS = {
    form: base for base, *forms in map(str.split, LISTS["irregular"].split(",")) for form in forms
}
_DISAMBIGUATOR = regex.compile(r"(?<!\s)\s*+[(（][^()（）]*+[)）]\s*+$")


def words(text: str) -> list[str]:
    """Return the words of `text` in order, NFKC-normalised, in their own case."""
    if text.isascii():
        parts = _ASCII_WORDS.findall(text)
    else:
        parts = _WORDS.findall(unicodedata.normalize("NFKC", text))
    return [word for word in parts if len(word) <= MAX_WORD]


def title_words(title: str) -> list[tuple[str, ...]]:
    """Return the word sequences that name a title: whole, and without its "(disambiguator)"."""
    whole = tuple(words(title))
    bare = tuple(words(_DISAMBIGUATOR.sub("", title)))
    return [form for form in dict.fromkeys((whole, bare)) if form]


def content_words(text: str) -> list[str]:
    """Return the words of `text` that are not function words, in lower case, each once.

    A function word in capitals is a name ("IT", "WHO"), unless the whole text is in capitals.
    """
    plain = text.isupper()
    content = (
        word.lower()
        for word in words(text)
        if word.lower() not in FUNCTION_WORDS or (len(word) > 1 and word.isupper() and not plain)
    )
    return list(dict.fromkeys(content))


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Return the stem that forms of a lower-case English word share (Porter's second stemmer)."""
    # A stemmer stores the word it works on, so threads cannot share one; making it is cheap.
    return str(snowballstemmer.stemmer("english").stemWord(word))


#: Characters that NFKC may combine into one stay together here.
_CLUSTER = regex.compile(r".[\p{M}\uff9e\uff9f\u1160-\u11ff]*", regex.DOTALL)
_ACCENTS = re.compile("[\u0300-\u036f]+")


@dataclass(slots=True)
class Words:
    """The words of a text: as written (NFKC) and as compared, with their offsets in `text`."""

    text: str
    raw: list[str]
    keys: list[str]
    starts: list[int]
    ends: list[int]


def cut(text: str) -> Words:
    """Return the words of `text` with their offsets, in time linear in its length."""
    normal = text
    #: Where in `text` each character is from, unless they are the same.
    places: list[tuple[int, int]] = []
    if not unicodedata.is_normalized("NFKC", text):
        normal = ""
        for match in _CLUSTER.finditer(text):
            part = unicodedata.normalize("NFKC", match[0])
            normal += part
            places += [match.span()] * len(part)
    # What is between words, and words, in turn: their lengths add up to places.
    parts = (_ASCII_WORDS if text.isascii() else _WORDS).split(normal)
    bounds = list(itertools.accumulate(map(len, parts)))
    raw, starts, ends = parts[1::2], bounds[:-1:2], bounds[1::2]
    if raw and len(max(raw, key=len)) > MAX_WORD:
        short = [at for at, word in enumerate(raw) if len(word) <= MAX_WORD]
        raw = [raw[at] for at in short]
        starts, ends = [starts[at] for at in short], [ends[at] for at in short]
    if places:
        starts, ends = [places[at][0] for at in starts], [places[at - 1][1] for at in ends]
    # As `fold`, which for ASCII is lower case alone.
    keys = " ".join(raw).lower().split() if normal.isascii() else list(map(fold, raw))
    return Words(text, raw, keys, starts, ends)


@lru_cache(maxsize=1 << 15)
def fold(word: str) -> str:
    """Return a word without its case and the accents of Latin, Greek and Cyrillic letters."""
    low = word.lower()
    if low.isascii():
        return low
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", low))
    return unicodedata.normalize("NFC", bare) or low


def same_start(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many of the same words, or letters of a word, two begin."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)
