"""Split text into words: the one rule that keyword extraction and the Cypher files share.

`cypher/include/words.cypher` has the same expression, so that the database splits a question
exactly as the passages were split.
"""

import itertools
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
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


#: The language of a corpus that is not clearly in another one.
DEFAULT_LANGUAGE = "english"
#: A language without an analyzer of its own: its words are found as they stand.
OTHER = "other"
#: Neo4j's full-text analyzers that stem a language, by its ISO 639-1 code. Words of Chinese,
#: Japanese and Korean have an index beside it.
LANGUAGES = {
    "ar": "arabic", "bg": "bulgarian", "ca": "catalan", "cs": "czech", "da": "danish",
    "de": "german", "el": "greek", "en": "english", "es": "spanish", "eu": "basque",
    "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "gl": "galician",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "lv": "latvian", "nb": "norwegian", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
    "th": "thai", "tr": "turkish", "ja": "english", "ko": "english", "zh": "english",
}  # fmt: skip
#: Texts that are looked at, and characters of each and of all at least: a few words can be of any
#: language.
_TEXTS, _CHARACTERS, _LEAST = 50, 2_000, 200
#: Characters that are prose or not as one, and where prose may begin at the latest.
_BLOCK, _LOOKED = 500, 50_000
#: So much likelier than English, in log odds for each character, is another language: 1.6 to 4 for
#: prose, while of 3,000 English tables, which are full of names, 99 in 100 have 0.61 or less.
_LIKELIER = 0.7
#: The same of a sentence's words that are no names, for each character and in all: of 3,000 English
#: sentences 8 have it, which quote another language. Of few characters, such as a list of drugs in
#: no language, it is the third for each up to the fourth: of such lists 13 in 100 have it, not 47.
_LIKELIER_WORDS, _LIKELIER_IN_ALL, _LIKELIER_FEW, _ENOUGH = 0.3, 6.0, 0.8, 24.0
_NO_NAME = regex.compile(r"(?<![\p{L}\p{M}'’])(?!\p{Lu})[\p{L}\p{M}]+")


def languages() -> list[str]:
    """Return the names of all languages that a corpus may have."""
    return sorted({*LANGUAGES.values(), OTHER})


def _beginning(text: str) -> str:
    """Return the first characters of a text that are prose, as far as one looks for them."""
    blocks = (text[at : at + _BLOCK] for at in range(0, min(len(text), _LOOKED), _BLOCK))
    return "".join(islice(filter(is_prose, blocks), _CHARACTERS // _BLOCK))


def guess_language(texts: Iterable[str]) -> str:
    """Return the language that most of the first texts are in, as `LANGUAGES` names it.

    It is English where no language is much likelier. By py3langid (Lui and Baldwin, ACL 2012).
    """
    text = "\n".join(map(_beginning, islice(texts, _TEXTS)))
    if len(text) < _LEAST:
        return DEFAULT_LANGUAGE
    from py3langid import rank  # 0.3 s: for the first load of a corpus alone

    ranked = rank(text)
    code, score = ranked[0]
    if score - dict(ranked)["en"] < _LIKELIER * len(text):
        return DEFAULT_LANGUAGE
    return LANGUAGES.get(code, OTHER)


def is_in_another(text: str, known: str) -> bool:
    """Return whether a text, if only a sentence, is clearly in another language than a known one.

    Words with a capital are left out of both: they may be names, which say nothing of a language.
    """
    from py3langid import rank

    code = "en"
    for each in (known, text):
        words = " ".join(_NO_NAME.findall(each[:_CHARACTERS]))
        scores = dict(rank(words)) if words else {code: 0.0}
        best = max(scores, key=lambda name: scores[name])
        few = max(_LIKELIER_IN_ALL, min(_LIKELIER_FEW * len(words), _ENOUGH))
        other = scores[best] - scores[code] >= max(few, _LIKELIER_WORDS * len(words))
        # The known text is English, too, where that is not clear.
        code = best if other else code
    return other


# --- Prose, or base64, minified code, hex dumps, logs ---

#: Characters without white space that words of no language have, and that nothing readable has.
_LONG, _LONGEST = 40, 200
#: A word of such a length made of letters alone, as where a PDF has lost its spaces; a formula; and
#: a run of punctuation, as before the page numbers of a table of contents.
_READABLE = re.compile(r"[^\W\d_]+(?:[.,;:!?'’()-]+[^\W\d_]*)*|.*[\\$^].*|[\W_]{0,9999}")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{2,16}[:,;]?")
_BYTES = re.compile(r"(?:0x)?(?=\w*\d)(?=\w*[a-fA-F])\w+[:,;]?")
#: A line's time with seconds, which logs have, near its beginning.
_TIMED = re.compile(r".{0,60}?(?:\d\d:\d\d:\d\d|\[ *\d+\.\d{3,}\])")
_WORD = re.compile(r"[\"'(]?[^\W\d_]++(?:[-'’][^\W\d_]*+)?[.,;:!?)\"']*")


def is_prose(text: str) -> bool:
    """Return whether people read such a text: prose, also tables, lists, formulas and code."""
    tokens = text.split()
    if not any(map(str.isalnum, text)):
        return False
    if 2 * sum(len(token) for token in tokens if _is_raw(token)) > sum(map(len, tokens)):
        return False
    hexes = [token for token in tokens if _HEX.fullmatch(token)]
    if len(tokens) > 15 and 10 * len(hexes) > 7 * len(tokens):
        return 5 * sum(bool(_BYTES.fullmatch(token)) for token in hexes) < len(hexes)
    lines = text.splitlines()
    timed = sum(bool(_TIMED.match(line)) for line in lines)
    words = sum(bool(_WORD.fullmatch(token)) for token in tokens)
    return not (timed > 3 and 10 * timed > 8 * len(lines) and 10 * words < 6 * len(tokens))


def _is_raw(token: str) -> bool:
    """Return whether a run of characters is too long for words, and no formula or rule."""
    if len(token) < _LONG or 5 * len(_FOREIGN.findall(token)) > len(token):
        return False
    return not _READABLE.fullmatch(token) or (len(token) >= _LONGEST and token[:1].isalnum())
