"""Split text into words: the one rule that keyword extraction and the Cypher files share.

A word is a run of letters, digits and their marks; each Chinese or Japanese character is a word,
since those scripts write no spaces. `cypher/include/words.cypher` has the same expression, so that
the database splits a question exactly as the passages were split.
"""

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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
#: English words that do not show what a question is about.
FUNCTION_WORDS = frozenset(
    "a an the of in on at by for with to from and or is are was were be been being it its this "
    "that these those as who whom whose what which when where why how did does do has have had he "
    "she they his her their him them not no also but if than then there after before during "
    "between about into over under out up down i you we me my our your s t".split()
)
_IRREGULAR = (
    "win won|lose lost|sell sold|buy bought|pay paid|send sent|leave left|"
    "begin began begun|get got|write wrote written|break broke broken|steal stole stolen|"
    "choose chose chosen|hold held|lay laid|drive drove driven|speak spoke spoken|"
    "fly flew flown|withdraw withdrew withdrawn|lend lent|bring brought|spend spent|"
    "grow grew grown|keep kept|find found|build built|lead led|meet met|teach taught|"
    "ride rode ridden|run ran|see saw seen|eat ate eaten|give gave given|fall fell fallen|"
    "take took taken|make made|know knew known|tell told|become became|stand stood|"
    "sit sat|hear heard|bear bore born borne|bind bound|draw drew drawn|wear wore worn|"
    "catch caught|think thought|say said|sing sang sung|swim swam swum|drink drank drunk|"
    "throw threw thrown|shoot shot|fight fought|feed fed|seek sought|come came|"
    "go went gone|do did done|wed wedded|overtake overtook overtaken|sleep slept"
)
#: Forms of English verbs that no ending makes, and those that stand in dictionaries.
PAST_FORMS = {
    form: base for base, *forms in map(str.split, _IRREGULAR.split("|")) for form in forms
}
#: English words with which no keyword begins or ends.
STOP_WORDS = FUNCTION_WORDS.union(
    # Determiners and pronouns.
    "all another any anybody anyone anything both each either enough every everybody everyone "
    "everything few fewer less little many more most much neither nobody none nothing one other "
    "others own same several some somebody someone something such what whatever whichever whoever "
    "hers herself himself itself me mine myself oneself ourselves ours themselves theirs us yours "
    "yourself yourselves "
    # Auxiliaries, and their remains around apostrophes.
    "am became become becomes becoming can cannot could doing done having may might must ought "
    "seem seemed seems shall should used will would d ll m re ve "
    # Prepositions.
    "about above across against along amid among amongst around behind below beneath beside "
    "besides beyond concerning despite except following including inside like near off onto "
    "outside past per regarding since through throughout till toward towards under underneath "
    "until unto upon via within without "
    # Conjunctions, and adverbs that join sentences.
    "accordingly although because consequently else furthermore hence however indeed instead lest "
    "meanwhile moreover namely nevertheless nonetheless nor otherwise provided so still therefore "
    "though thus unless whereas wherever whether while whilst yet "
    # Adverbs of time, place, degree and manner.
    "again ago almost already always anyhow anyway anywhere apart aside away back elsewhere "
    "especially even ever everywhere far formerly further here hereafter just last later latter "
    "least mainly maybe mostly never next now nowhere often once only partly perhaps quite rather "
    "seldom sometimes somewhere soon there thereafter thereby too together twice usually very "
    "well whenever "
    # Small numbers in words, and ordinals.
    "two three four five six seven eight nine ten first second third former".split()
)
_DISAMBIGUATOR = regex.compile(r"\s*[(（][^()（）]*[)）]\s*$")


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


# --- Words with offsets ---

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
    if text.isascii():
        return _cut(text, text, _ASCII_WORDS, None)
    if unicodedata.is_normalized("NFKC", text):
        return _cut(text, text, _WORDS, None)
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    for match in _CLUSTER.finditer(text):
        part = unicodedata.normalize("NFKC", match[0])
        parts.append(part)
        places += [match.span()] * len(part)
    return _cut(text, "".join(parts), _WORDS, places)


def _cut(
    text: str, normal: str, pattern: re.Pattern[str], places: list[tuple[int, int]] | None
) -> Words:
    # What is between words, and words, in turn: their lengths add up to places.
    parts = pattern.split(normal)
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
    """Return a word without its case and without the accents of Latin, Greek and Cyrillic letters.

    Marks of other scripts stay, since they are vowels there.
    """
    low = word.lower()
    if low.isascii():
        return low
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", low))
    return unicodedata.normalize("NFC", bare) or low


def same_start(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many of the same words, or letters of a word, two begin."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)
