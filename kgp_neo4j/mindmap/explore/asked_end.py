"""Which end of a relation does a question ask for? Read from the grammar of both.

A question and the name of a relation each say something of one end: "who manages X" and "by whom is
X managed" of a manager, `managed_by` of what is managed, `manager` of its tail. Where both have the
same word, grammar tells the ends apart; else a matrix, trained on sayings of either end of some 500
relations, tells whether two sayings are of the same end ("customer of" and "is supplied by").
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import takewhile

import numpy as np
import regex
from numpy.typing import NDArray
from safetensors.numpy import load

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.models.encoder import Encoder, embed
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.text.words import FUNCTION_WORDS, stem

#: How sure the end is where the words are the same.
_SAME = 0.95
#: Words before a noun that says what the other end is.
_ASKING = frozenset("which what many other".split())
_BE = frozenset("is was are were be been being".split())
_COPULAS = _BE | {"has", "have", "had"}
_ARTICLES = frozenset("the a an".split())
_PREPOSITIONS = frozenset("to from in on at for with into under after over of by".split())
#: Endings of who does something, and of whom it is done to.
_DOES = regex.compile(r"(?:er|or|ist|ian|ress|ant)s?$")
_IS_DONE = regex.compile(r"(?:ee)s?$")
_WORD = regex.compile(r"['’]s\b|(?<=s)['’](?=\s)|[^\W_]+(?:-[^\W_]+)*")
#: Least nearness of a word to a relation, beside words of the same stem.
_LEAST = 0.25


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of one end: its main word, its voice, all of it, and of which end.

    The voice is 1 for who does something, -1 for whom it is done to, 0 where untold. `first` is whether it is said of a relation's head, or of the end of a question that is known.
    """

    word: str
    voice: int
    text: str
    first: bool
    noun: bool
    #: A participle that may be either voice: "metabolised to".
    open: bool = False


def tokens(question: str, mention: tuple[int, int], others: Sequence[tuple[int, int]]) -> list[str]:
    """Return the words of a question with "x" for its entity and "y" for each other one."""
    for begin, end in sorted({mention, *others}, reverse=True):
        name = " x" if (begin, end) == mention else " y"
        question = question[:begin] + name + question[end:]
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
        asked, own = _of_question(words, here, at), _of_relation(name, words[at])
        chances.append(_along(encoder, asked, own))
        here = at
    return chances


def _along(encoder: Encoder, asked: _Said, own: _Said) -> float:
    """Return how likely the known end of a question is the relation's head."""
    if own.open and not asked.noun:
        own = replace(own, voice=asked.voice)
    if _stem(asked.word) == _stem(own.word):
        alike = (asked.voice or 1) * (own.voice or 1) > 0 or (asked.noun and own.noun)
        chance = _SAME if alike else 1 - _SAME
    elif encoder.name == DEFAULT_ENCODER:
        weights = _weights()
        roles = embed(encoder, [saying(asked.text), saying(own.text)]) - weights["mean"]
        roles = roles @ weights["matrix"].T
        chance = float(1 / (1 + np.exp(-(roles[0] @ roles[1] + weights["bias"][0]))))
    else:
        chance = 0.5
    # Said of the known end and of the head alike, the known end is the head.
    return chance if asked.first == own.first else 1 - chance


def saying(text: str) -> str:
    """Return what is said of an end as the matrix was trained on it."""
    return f"x {text} y"


@cache
def _weights() -> Mapping[str, NDArray[np.float32]]:
    file = resources.files("kgp_neo4j.mindmap.explore") / "asked_end.safetensors"
    return {name: values.astype(np.float32) for name, values in load(file.read_bytes()).items()}


def _stem(word: str) -> str:
    """Return the stem that a verb shares with who does it: manag for manages and manager."""
    bare = stem(regex.sub(r"(?:er|or|ee|ed|ing)s?$", "", word) or word)
    return bare.removesuffix("e").removesuffix("i")[:7]


def _places(encoder: Encoder, words: Sequence[str], path: Sequence[str]) -> list[int | None]:
    """Return for each relation the place of the word that means it."""
    plain = [
        at for at, w in enumerate(words)
        if w not in FUNCTION_WORDS and w not in ("x", "y") and w[0].isalnum()
    ]  # fmt: skip
    names = [readable(name) for name in path]
    if not plain:
        return [None] * len(path)
    near = embed(encoder, names) @ embed(encoder, [words[at] for at in plain]).T
    stems = [{_stem(w) for w in name.split() if w not in FUNCTION_WORDS} for name in names]
    here = words.index("x")
    scored = sorted(
        ((float(near[row, column]) + (_stem(words[at]) in stems[row]) - 0.001 * abs(at - here),
          row, at)
         for row in range(len(path)) for column, at in enumerate(plain)), reverse=True
    )  # fmt: skip
    chosen: list[int | None] = [None] * len(path)
    for score, row, at in scored:
        if score >= _LEAST and chosen[row] is None and at not in chosen:
            chosen[row] = at
    # A relation that is gone along twice is meant by the nearer word first.
    for name in set(path):
        rows = [row for row, other in enumerate(path) if other == name and chosen[row] is not None]
        nearest = sorted((at for row in rows if (at := chosen[row]) is not None),
                         key=lambda at: abs(at - here))  # fmt: skip
        for row, at in zip(rows, nearest, strict=True):
            chosen[row] = at
    return chosen


def _of_question(words: Sequence[str], here: int, at: int) -> _Said:
    """Return what the word at a place says of the known end, at the place `here`, or the other."""
    word, before = words[at], words[at - 1] if at else ""
    after = list(words[at + 1 : at + 4])
    between = words[min(here, at) + 1 : max(here, at)]
    owned = here < at and bool(between) and between[0] in ("'s", "'")
    if before in _ASKING:
        return _noun(word, False)
    noun = (
        owned
        or before in _ARTICLES | {"whose", "as", "'s", "'"}
        or (bool(after) and after[0] == "of" and not word.endswith("ed"))
        or (at < here and between[:1] == ["of"] and not word.endswith("ed"))
    )
    copula = any(w in _COPULAS - {"has", "have", "had"} for w in words[max(0, at - 5) : at])
    by = "by" in after[:2] or ("by" in words[: min(here, at)] and here < at)
    if noun:
        # "whose manager is X", "is X the manager of": X is it; "X's manager", "manager of X": not.
        known = (here < at and not owned) or (before == "whose" and at < here)
        return _noun(word, known)
    # "is X served" is passive as well, "served X" is not.
    passive = (
        (by and (copula or "by" in after[:2]))
        or (
            here < at and words[here - 1 : here] != [] and words[here - 1] in _BE and _is_past(word)
        )
        or (here < at and words[at - 1] in _BE and _is_past(word))
    )
    behind = [
        w for w, _ in takewhile(lambda p: p[0] in _PREPOSITIONS, zip(after, range(2), strict=False))
    ]
    text = f"is {word} by" if passive else " ".join((word, *behind))
    return _Said(word, -1 if passive else 1, text, here < at, noun=False)


def _noun(word: str, first: bool) -> _Said:
    return _Said(word, _voice(word), f"is the {word} of", first, noun=True)


def _voice(noun: str) -> int:
    return 1 if _DOES.search(noun) else -1 if _IS_DONE.search(noun) else 0


def _is_past(word: str) -> bool:
    return word.endswith(("ed", "en", "wn", "ught", "ld", "nt", "de"))


def _of_relation(name: str, asked: str) -> _Said:
    """Return what a relation's name says of its head or its tail."""
    words = readable(name).split()
    be, has = words[0] in _BE, words[0] in ("has", "have")
    while len(words) > 1 and words[0] in _COPULAS | _ARTICLES:
        words = words[1:]
    last = words[-1]
    content = [w for w in words if w not in _PREPOSITIONS] or words
    word = next((w for w in content if _stem(w) == _stem(asked)), content[0])
    if last == "by":
        return _Said(word, -1, f"is {' '.join(words)}", True, noun=False)
    if last == "of" and not word.endswith(("ed", "es", "en", "de")):
        return replace(_noun(word, True), text=f"is the {' '.join(words)}")
    if (last in _PREPOSITIONS or _is_verb(word)) and not (has and not _is_past(word)):
        # "metabolised to" alone may be either: it is what the question says.
        either = last in _PREPOSITIONS and _is_past(word)
        text = " ".join(("is", *words) if be else words)
        voice = -1 if be and _is_past(word) else 1
        return _Said(word, voice, text, True, noun=False, open=either)
    return replace(_noun(word, False), text=f"is the {' '.join(words)} of")


def _is_verb(word: str) -> bool:
    """Return whether a name of one word is rather a verb, in a form that it has in sentences."""
    return word.endswith("ed") or (
        word.endswith("s") and not word.endswith(("ss", "ers", "ees", "ists", "ians", "is", "us"))
    )
