"""What two passages have in common, and which of them has a question's words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kgp_neo4j.models.reader.nations import nations_in

__all__ = ["common", "has_all", "share_of", "stems"]

Found = tuple[str, int, int]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
#: Words that ask, join or say little: a passage need not have them.
_EMPTY = frozenset(
    """a an and are as at be been being both by can considered could did do does each either for
    from had has have in into is it its known located more most of on one or part same than that the
    their them there these they this those to two type types kind kinds used was were what which who
    whom whose with would you classified described situated sort also film films both people person
    named called between if out over""".split()
)
#: What is said of nearly everything and is therefore no common trait.
_DULL = frozenset(
    "first second one two new many best name named known born also who which s".split()
)
_TRAIT = re.compile(r"\b(?:is|was|are|were)\b", re.IGNORECASE)


def stems(text: str) -> list[str]:
    """Return the words of a text that say something, in lower case and without an ending."""
    return [_stem(w) for w in _WORD.findall(text.casefold()) if w not in _EMPTY and len(w) > 1]


def _stem(word: str) -> str:
    word = re.sub(r"['’]s$", "", word)
    for ending, instead in (("ies", "y"), ("ses", "s"), ("ches", "ch"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            return word[: -len(ending)] + instead
    return word


def share_of(wanted: Iterable[str], text: str) -> float:
    """Return the share of the words wanted (stems) that a text has, 1 of none."""
    words = set(stems(text))
    nations = {nation for nation, _, _ in nations_in(text)}
    asked = list(wanted)
    if not asked:
        return 1.0
    hits = 0
    for word in asked:
        named = nations_in(word.capitalize())
        hits += word in words or bool(named and named[0][0] in nations)
    return hits / len(asked)


def has_all(wanted: Iterable[str], text: str) -> bool:
    """Say whether a text has all the words wanted."""
    return share_of(wanted, text) == 1.0


def common(one: str, other: str, asked: str) -> list[Found]:
    """Return the traits that two passages' first sentences share, longest first.

    Each is the words as `one` writes them, with their place there; words of `asked` are none.
    """
    left, right = _traits(one), _traits(other)
    known = {_stem(word.casefold()) for word, _, _ in right}
    seen = set(stems(asked)) | _EMPTY | _DULL
    runs: list[list[Found]] = [[]]
    for word, start, end in left:
        fits = _stem(word.casefold()) in known and _stem(word.casefold()) not in seen
        if fits and runs[-1] and one[runs[-1][-1][2] : start] == " ":
            runs[-1].append((word, start, end))
        elif fits:
            runs.append([(word, start, end)])
        else:
            runs.append([])
    made = []
    for run in runs:
        if run:
            start, end = run[0][1], run[-1][2]
            made.append((one[start:end], start, end))
    return made


def _traits(text: str) -> list[Found]:
    """Return the words of a first sentence after its verb, each with its place."""
    verb = _TRAIT.search(text)
    start = verb.end() if verb else 0
    end = re.compile(r"(?<=[a-z)\]\"])[.!?](?:\s|$)").search(text, start)
    stop = end.start() if end else len(text)
    return [(m[0], m.start(), m.end()) for m in _WORD.finditer(text, start, stop)]
