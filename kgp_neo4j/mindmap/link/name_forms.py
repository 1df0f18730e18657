"""Phrases of a question that an entity's name may stand behind, and the forms a name takes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import regex

__all__ = [
    "Phrase",
    "alike",
    "content",
    "forms",
    "is_han",
    "meant",
    "name_words",
    "negated",
    "phrases",
    "spans",
]

#: Words of a name and of a question; Chinese and Japanese characters are words of their own.
_HAN = "々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿"
_TOKEN = regex.compile(rf"[{_HAN}]|(?:(?![{_HAN}])[\p{{L}}\p{{N}}\p{{M}}])+(?:['’][\p{{L}}]+)*")
_PARENTHESIS = regex.compile(r"\s*[(（]([^()（）]*)[)）]\s*")
#: What ends a phrase; a hyphen or slash does not.
_END = regex.compile(r"[^\p{L}\p{N}\p{M}\s'’/_-]+")
_LONGEST = 7
#: Chinese names are long in characters.
_LONGEST_HAN = 14
#: A question is cut here; more is a document.
_MOST = 4_000

_FUNCTION = frozenset(
    "a an the of in on at by for with to from and or is are was were be been being am it its "
    "it's this that that's these those as who whom whose what what's which when where why how "
    "did does do has have had he she they his her their him them also but if than then there "
    "after before during between about into over under out up down i i'm i've i'd i'll you "
    "you're we we've me my our your can could will would should may might must just really very "
    "some any s t so too".split()
)
#: Words of telling, which are no part of what is told of.
_TELLING = frozenset(
    "experiencing experience experienced having feeling feel feels felt noticed notice noticing "
    "lately recently suffering suffer think thinking seem seems diagnosed doctor hi hello "
    "please tell wrong problem reason cause causing caused need know going much lot always "
    "constantly constant few weeks days months while past now even more quite since keep keeps "
    "get gets getting got take help thank thanks patient today yesterday sometimes often still "
    "possible all".split()
)
_NEGATIONS = frozenset(("no", "not", "never", "cannot", "unable", "without"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words of a question: its text, its words in lower case, and where it stands.

    `places` are its first and last characters in the question. There are none where the words do
    not stand next to one another, as "swelling leg" in "pain and swelling in my leg".
    """

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...] = ()

    @property
    def plain(self) -> bool:
        """Whether it begins and ends with words that mean something by themselves."""
        ends = (self.words[0], self.words[-1])
        return not any(word in _FUNCTION or word in _TELLING for word in ends)


def is_han(text: str) -> bool:
    """Say whether a text is written in Chinese or Japanese characters, at least in part."""
    return regex.search(f"[{_HAN}]", text) is not None


def spans(text: str) -> Iterator[list[tuple[str, int, int]]]:
    """Yield the runs of words between punctuation: each word in lower case, with its place."""
    text = text[:_MOST]
    start = 0
    for end in [*((m.start(), m.end()) for m in _END.finditer(text)), (len(text), len(text))]:
        run = [
            (
                unicodedata.normalize("NFKC", m.group()).casefold().replace("’", "'"),
                m.start(),
                m.end(),
            )
            for m in _TOKEN.finditer(text, start, end[0])
        ]
        if run:
            yield run
        start = end[1]


def phrases(question: str) -> list[Phrase]:
    """Return all runs of words that may name an entity, and those of two things told in one.

    "Pain and swelling in my legs" has "pain in my legs", "elbow and wrist weakness" has "elbow
    weakness".
    """
    found: dict[tuple[str, ...], Phrase] = {}
    for run in spans(question):
        for first, (word, begin, _) in enumerate(run):
            if word in _FUNCTION:
                continue
            longest = _LONGEST_HAN if is_han(word) else _LONGEST
            for after in range(first + 1, min(first + longest, len(run)) + 1):
                last, _, end = run[after - 1]
                if last not in _FUNCTION:
                    words = tuple(w for w, _, _ in run[first:after])
                    known = found.get(words)
                    places = (*(known.places if known else ()), (begin, end))
                    found[words] = Phrase(question[begin:end], words, places)
    for run in spans(question):
        for words in _coordinated([word for word, _, _ in run]):
            found.setdefault(words, Phrase(" ".join(words), words))
    return list(found.values())


def _coordinated(run: list[str]) -> Iterator[tuple[str, ...]]:
    for at, word in enumerate(run):
        if word not in ("and", "or") or not 0 < at < len(run) - 1:
            continue
        before, after = run[max(0, at - 5) : at], run[at + 1 : at + 6]
        told = [(*before[-1:], *after[1:n]) for n in range(2, 5)]
        told += [(*before[-n:-1], *after[:m]) for n in range(2, 6) for m in (1, 2)]
        for words in told:
            ends = (words[0], words[-1])
            if len(words) > 1 and not any(w in _FUNCTION or w in _TELLING for w in ends):
                yield words


def negated(words: Iterable[str]) -> bool:
    """Say whether a phrase denies something: "can't sleep", "unable to walk"."""
    return any(word in _NEGATIONS or word.endswith("n't") for word in words)


def meant(words: Iterable[str]) -> set[str]:
    """Return the words that are neither function words nor words of telling."""
    return {word for word in words if word not in _FUNCTION and word not in _TELLING}


def content(words: Iterable[str]) -> tuple[str, ...]:
    """Return the stems of words that are not function words, sorted: what word forms share."""
    return tuple(sorted({alike(word) for word in words if word not in _FUNCTION}))


def alike(word: str) -> str:
    """Return a rough stem: plural, -ing, -ed, -ness and -ful are taken off (English)."""
    for ending, instead in (
        ("sses", "ss"),
        ("ies", "y"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
    ):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            word = word[: -len(ending)] + instead
            break
    else:
        if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
            word = word[:-1]
    for ending in ("ing", "ed", "ness", "ful"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    if word.endswith("e") and len(word) > 4:
        word = word[:-1]
    if len(word) > 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 else word


def forms(name: str) -> list[tuple[str, ...]]:
    """Return the ways to say a name, as words: whole first, then without a parenthesis, then the
    parenthesis, then each of two things joined by "or".

    "Blood test (CBC)" is also "blood test" and "CBC", "cramps or spasms" also "cramps". Ways that
    begin or end with a function word are left out: they are broken names.
    """
    bare = _PARENTHESIS.sub(" ", name).strip()
    # "Coagulation (bleeding) disorder" is not "bleeding": only what stands last is another name.
    last = [found.group(1) for found in _PARENTHESIS.finditer(name) if found.end() == len(name)]
    ways = [name_words(text) for text in (name, bare, *last)]
    for words in list(ways):
        ways += list(_alternatives(words, 3))
    return [
        way
        for way in dict.fromkeys(ways)
        if way and way[0] not in _FUNCTION and way[-1] not in _FUNCTION
    ]


def name_words(text: str) -> tuple[str, ...]:
    """Return the words of a name in lower case."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return tuple(_TOKEN.findall(text))


def _alternatives(words: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    if depth and "or" in words[1:-1]:
        at = words.index("or", 1)
        for way in ((*words[:at], *words[at + 2 :]), (*words[: at - 1], *words[at + 1 :])):
            yield way
            yield from _alternatives(way, depth - 1)
