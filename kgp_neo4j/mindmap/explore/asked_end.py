"""Which end of a relation does a question ask for? Read from the grammar of both.

A question and the name of a relation each say something of one end: "who manages X" and "by whom is
X managed" of a manager, `managed_by` of what is managed, `manager` of its tail. Where both have the
same word, grammar tells the ends apart; else a matrix, trained on sayings of either end of some 500
relations, tells whether two sayings are of the same end ("customer of" and "is supplied by").
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from itertools import takewhile

import numpy as np
import regex
from numpy.typing import NDArray
from safetensors.numpy import load

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.link.name_forms import Place
from kgp_neo4j.models.encoder import Encoder, embed
from kgp_neo4j.models.engine import DEFAULT_ENCODER
from kgp_neo4j.text.words import FUNCTION_WORDS, PAST_FORMS, stem

#: How sure the end is where the words are the same.
_SAME = 0.95
#: Words before a noun that says what the other end is.
_ASKING = frozenset("which what many other".split())
_BE = frozenset("is was are were be been being".split())
_HAVE = frozenset("has have had".split())
_AUXILIARY = _BE | _HAVE | frozenset("do does did can could will would".split())
_COPULAS = _BE | _HAVE
_ARTICLES = frozenset("the a an".split())
_PREPOSITIONS = frozenset("to from in on at for with into under after over of by".split())
#: Endings of who does something, and of whom it is done to.
_DOES = regex.compile(r"(?:er|or|ist|ian|ress|ant)s?$")
_IS_DONE = regex.compile(r"(?:ee)s?$")
_WORD = regex.compile(r"['’]s\b|(?<=s)['’](?=\s)|[^\W_]+(?:-[^\W_]+)*")
#: Log odds by which a name is rather a verb: with an "s", and where the question has it as one.
_THIRD_PERSON, _USED = 3.5, 2.0
#: What each step too many or too few takes of a path's probability.
_UNFIT = 0.03
_OWNED = regex.compile(r"['’]s?$")
#: Least nearness of a word to a relation, beside words of the same stem.
_LEAST = 0.25


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of one end: its main word, its voice, all of it, and of which end.

    The voice is 1 for who does something, -1 for whom it is done to, 0 where untold; a verb's text
    is of who does it. `first`: it is said of a relation's head, or of a question's known end.
    """

    word: str
    voice: int
    text: str
    first: bool
    noun: bool
    #: A participle that may be either voice: "metabolised to".
    open: bool = False


def tokens(question: str, mention: Place, others: Sequence[Place]) -> list[str]:
    """Return the words of a question with "x" for its entity and "y" for each other one."""
    for begin, end in sorted({mention, *others}, reverse=True):
        name = " x" if (begin, end) == mention else " y"
        owned = _OWNED.search(question[begin:end])
        question = question[:begin] + name + (owned[0] if owned else "") + question[end:]
    return [w.replace("’", "'").lower() for w in _WORD.findall(question)]


def end_chances(encoder: Encoder, words: Sequence[str], path: Sequence[str]) -> list[float]:
    """Return for each relation of a path how likely it is walked along its direction.

    `words` are from `tokens`, `path` are the relations' names from the entity on.
    """
    if "x" not in words:
        return [0.5] * len(path)
    chances, here = [], words.index("x")
    for name, at in zip(path, _places(encoder, words, path), strict=True):
        if at is None:
            chances.append(0.5)
            continue
        asked = _of_question(words, here, at)
        names = _of_relation(encoder, name, asked)
        chances.append(sum(share * _along(encoder, asked, own) for share, own in names if share))
        here = at
    return chances


def holds_both_ways(encoder: Encoder, names: Sequence[str]) -> list[bool]:
    """Return for each relation whether it holds from either end, as "married to" does."""
    if encoder.name != DEFAULT_ENCODER:
        return [False] * len(names)
    weights = trained("asked_end")
    odds = embed(encoder, [readable(name) for name in names]) @ weights["both"]
    return [bool(value > 0) for value in odds + weights["both_bias"][0]]


def length_fits(words: Sequence[str], path: Sequence[str]) -> float:
    """Return how likely a path has as many steps as the question's words mean, 1 where it may.

    Each step needs words of its own, and a word that is said twice means two steps.
    """
    plain = [at for at, word in enumerate(words) if _is_content(word)]
    runs = sum(at - 1 not in plain for at in plain)
    least = max(Counter(stem_of(words[at]) for at in plain).values(), default=1)
    return _UNFIT ** (max(len(path) - runs, 0) + max(least - len(path), 0))


def stems_of(name: str) -> set[str]:
    """Return the stems of a relation's name: "mentees" has that of `mentors`."""
    return {stem_of(word) for word in readable(name).split() if word not in FUNCTION_WORDS}


def _is_content(word: str) -> bool:
    return word not in FUNCTION_WORDS and word not in ("x", "y") and word[0].isalnum()


def _along(encoder: Encoder, asked: _Said, own: _Said) -> float:
    """Return how likely the known end of a question is the relation's head."""
    if own.open and not asked.noun:
        own = replace(own, voice=asked.voice)
    # Of nouns "employer" and "employee" tell who does it, "metabolite" does not.
    voices = asked.voice * own.voice
    is_same = asked.noun and own.noun and stem(asked.word) == stem(own.word)
    if stem_of(asked.word) == stem_of(own.word) and (voices or is_same):
        chance = _SAME if voices > 0 or (is_same and not voices) else 1 - _SAME
    elif encoder.name == DEFAULT_ENCODER:
        weights = trained("asked_end")
        roles = embed(encoder, [saying(asked.text), saying(own.text)]) - weights["mean"]
        roles = roles @ weights["matrix"].T
        chance = float(1 / (1 + np.exp(-(roles[0] @ roles[1] + weights["bias"][0]))))
        if sum(said.voice < 0 and not said.noun for said in (asked, own)) == 1:
            chance = 1 - chance
    else:
        chance = 0.5
    # Said of the known end and of the head alike, the known end is the head.
    return chance if asked.first == own.first else 1 - chance


def saying(text: str) -> str:
    """Return what is said of an end as the matrix was trained on it."""
    return f"x {text} y"


@cache
def trained(name: str) -> Mapping[str, NDArray[np.float32]]:
    """Return the trained weights of a module here, by their names."""
    file = resources.files("kgp_neo4j.mindmap.explore") / f"{name}.safetensors"
    return {name: values.astype(np.float32) for name, values in load(file.read_bytes()).items()}


@lru_cache(maxsize=1 << 12)
def stem_of(word: str) -> str:
    """Return the stem that a verb shares with who does it: manag for manages and manager."""
    word = PAST_FORMS.get(word, word)
    bare = stem(regex.sub(r"(?:er|or|ee|ed|ing)s?$", "", word) or word)
    return bare.removesuffix("e").removesuffix("i")[:7]


def _places(encoder: Encoder, words: Sequence[str], path: Sequence[str]) -> list[int | None]:
    """Return for each relation the place of the word that means it."""
    plain = [at for at, word in enumerate(words) if _is_content(word)]
    names = [readable(name) for name in path]
    if not plain:
        return [None] * len(path)
    near = embed(encoder, names) @ embed(encoder, [words[at] for at in plain]).T
    stems = [stems_of(name) for name in path]
    here = words.index("x")
    scored = sorted(
        ((float(near[row, column]) + (stem_of(words[at]) in stems[row]) - 0.001 * abs(at - here)
          - 0.01 * (words[at - 1 : at] in (["which"], ["what"])), row, at)
         for row in range(len(path)) for column, at in enumerate(plain)), reverse=True
    )  # fmt: skip
    chosen: list[int | None] = [None] * len(path)
    for score, row, at in scored:
        if score >= _LEAST and chosen[row] is None and at not in chosen:
            chosen[row] = at
    # A relation that is gone along twice is meant by the nearer word first.
    for name in set(path):
        rows = [row for row, other in enumerate(path) if other == name and chosen[row] is not None]
        # In "the manager of x's manager" the one behind x.
        places = [place for row in rows if (place := chosen[row]) is not None]
        places.sort(key=lambda place: (abs(place - here), place < here))
        for row, place in zip(rows, places, strict=True):
            chosen[row] = place
    return chosen


def _of_question(words: Sequence[str], here: int, at: int) -> _Said:
    """Return what the word at a place says of the known end, at the place `here`, or the other."""
    word, start = words[at], at
    # "What risk factor does", but not "which company bought".
    is_whole = not _AUXILIARY.isdisjoint(words[at + 1 : at + 2])
    while is_whole and start and _is_content(words[start - 1]):
        start -= 1
    before = words[start - 1] if start else ""
    after = list(words[at + 1 : at + 3])
    between = words[min(here, at) + 1 : max(here, at)]
    owned = here < at and not {"'s", "'"}.isdisjoint(between[:1])
    if before in _ASKING:
        return _noun(word, False)
    noun = (
        owned
        or before in _ARTICLES | {"whose", "as", "'s", "'"}
        or (after[:1] == ["of"] and not word.endswith("ed"))
    )
    copula = not _BE.isdisjoint(words[max(0, at - 5) : at])
    by = "by" in after or ("by" in words[:here] and here < at)
    if noun:
        # "whose manager is X", "is X the manager of", "the manager X": X is it; "X's manager" and
        # "X has a manager": not.
        holds = here < at and not _HAVE.isdisjoint(between)
        known = (before == "whose" or not between) if at < here else not (owned or holds)
        return _noun(word, known)
    # "is X served" is passive as well, "served X" is not.
    beside = [*words[max(here - 1, 0) : here], words[at - 1]]
    passive = by and (copula or "by" in after)
    passive |= here < at and _is_past(word) and not _BE.isdisjoint(beside)
    behind = list(takewhile(_PREPOSITIONS.__contains__, after))
    behind = [w for w in behind if w != "by"] if passive else behind
    text = " ".join((word, *behind))
    return _Said(word, -1 if passive else 1, text, here < at, noun=False)


def _noun(word: str, first: bool) -> _Said:
    voice = 1 if _DOES.search(word) else -1 if _IS_DONE.search(word) else 0
    return _Said(word, voice, f"is the {word} of", first, noun=True)


def _is_past(word: str) -> bool:
    return word.endswith(("ed", "en", "wn", "ught")) or word in PAST_FORMS


def _of_relation(encoder: Encoder, name: str, asked: _Said) -> list[tuple[float, _Said]]:
    """Return what a relation's name may say of its head or its tail, with probabilities."""
    words = readable(name).split()
    be, has = words[0] in _BE, words[0] in _HAVE
    while len(words) > 1 and words[0] in _COPULAS | _ARTICLES | {"as"}:
        words = words[1:]
    last, said = words[-1], " ".join(words)
    content = [w for w in words if w not in _PREPOSITIONS] or words
    word = next((w for w in content if stem_of(w) == stem_of(asked.word)), content[0])
    if last == "by":
        return [(1.0, _Said(word, -1, " ".join(words[:-1]), True, noun=False))]
    noun = replace(_noun(word, last == "of"), text=f"is the {said} of".replace(" of of", " of"))
    # "metabolised to" alone may be either voice: it is what the question says.
    either = last in _PREPOSITIONS and _is_past(word)
    voice = -1 if be and _is_past(word) else 1
    verb = _Said(word, voice, f"is {said}" if be else said, True, noun=False, open=either)
    if last in _PREPOSITIONS and last != "of":
        chance = 1.0
    elif has:
        chance = float(_is_past(word))
    elif encoder.name == DEFAULT_ENCODER:
        weights = trained("asked_end")
        odds = embed(encoder, [saying(said)])[0] @ weights["verb"] + weights["verb_bias"][0]
        # A name in the plural is rare, and a question that has the word as a verb tells.
        is_used = not asked.noun and stem_of(asked.word) == stem_of(word)
        odds += _THIRD_PERSON * said.endswith("s") + _USED * is_used
        chance = float(1 / (1 + np.exp(-odds)))
    else:
        chance = float(_is_past(word))
    return [(chance, verb), (1 - chance, noun)]
