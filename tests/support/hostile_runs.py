"""Texts made to be slow for a pattern, from its own parts, and how its time grows with them."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

import regex

#: A compiled pattern, of `re` or of `regex`, over texts or bytes.
AnyPattern: TypeAlias = Any

#: Runs that anybody types: one mark, one letter, words, and marks between them.
COMMON = (
    *"aA1 \t\n.,-_'\"’“([{<>=#*|/\\:;?!~`&$%@^+–•中é\u0301\u200b\U0001f600",
    *("a-", "a.", "A.", "1.", "1,", "1 ", "a ", "A ", "Aa ", "a,", "a'", "a\n", " \n", "- ", "a: "),
    *("<a ", "](", "[1]", "()", '" ', "a@", "a/", "aA", "a1", "and ", "the ", "Ab1-", "|-", "[a"),
)
#: What ends a run so that nothing matches there.
_ENDS = ("", "\x00")
#: Members that stand for a class of letters, of which a run takes one after the other.
_CLASSES = {
    op.CATEGORY_DIGIT: "1",
    op.CATEGORY_SPACE: " \n\t",
    op.CATEGORY_WORD: "aZ1_",
    op.CATEGORY_NOT_DIGIT: "a -",
    op.CATEGORY_NOT_SPACE: "a-1",
    op.CATEGORY_NOT_WORD: " -.",
}
#: Properties of `regex` as classes that `re` can read.
_PROPERTIES = {
    "L": "a-zA-Z", "Lu": "A-Z", "Ll": "a-z", "N": "0-9", "Nd": "0-9", "M": "\u0301", "P": ".,-",
    "S": "+$", "Z": " ", "C": "\x01", "Cs": "\ud800", "Latin": "a-zA-Z", "Greek": "α",
    "Cyrillic": "д", "Han": "一-中", "Hiragana": "あ", "Katakana": "ア", "Hangul": "가",
}  # fmt: skip
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
#: A repeat of so many is no bounded one; runs of a pattern at most, evenly from all of its parts.
_OFTEN, _MOST = 30, 150
#: Characters of the longest text, and the seconds that are more than noise.
_FIRST, _NOISE = 2048, 0.001
#: Seconds a character may take at most, with what is bounded and not quadratic.
_SLOWEST = 50e-6
#: How much more time twice the text takes at most: 2 where time is linear, 4 where quadratic.
_GROWTH = 3.0


def hostile_runs(pattern: AnyPattern) -> list[tuple[str, str, str]]:
    """Return what to build texts of for a pattern: what begins them, what repeats, what ends."""
    found = dict.fromkeys(("", run, end) for run in COMMON for end in _ENDS)
    parsed = _parsed(pattern)
    # What has all that a pattern asks for keeps it from being given up at once.
    ends = (*_ENDS, "\x00" + _sample(parsed, 0))
    own = list(dict.fromkeys(each for each in _own_runs(parsed) if each[1]))
    for begin, run in own[:: len(own) // _MOST + 1]:
        found |= dict.fromkeys((begin, run, end) for end in ends)
    return list(found)


def _parsed(pattern: AnyPattern) -> Sequence[Any]:
    source, flags = pattern.pattern, re.NOFLAG
    if isinstance(source, bytes):
        source = source.decode("latin-1")
    if pattern.flags & re.VERBOSE:
        flags = re.VERBOSE
    if isinstance(pattern, regex.Pattern):
        source = re.sub(r"\[(\[(?:\\.|[^\\\]])+\])--\[(?:\\.|[^\\\]])+\]\]", r"\1", source)
        source = _without_properties(source).replace(r"\X", ".").replace(r"\G", "")
    return parser.parse(source, flags)  # type: ignore[no-any-return]


def _without_properties(source: str) -> str:
    """Return a pattern of `regex` with classes in place of its properties."""
    parts, is_class = [], False
    for part in re.findall(r"\\[pP]\{[^}]*\}|\\.|.", source, re.DOTALL):
        if part[:2] in (r"\p", r"\P"):
            members = _PROPERTIES.get(part[3:-1].lstrip("^"), "ｱ")
            part = members if is_class else f"[{'^' * (part[1] == 'P')}{members}]"
        elif part in "[]":
            is_class = part == "["
        parts.append(part)
    return "".join(parts)


def _own_runs(items: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield beginnings and runs from each sequence of a pattern in which something repeats."""
    items = list(items)
    if not _repeats(items):
        return
    for choice in range(3):
        samples = [_sample([item], choice) for item in items]
        for at, (kind, value) in enumerate(items):
            before = "".join(samples[:at])
            yield "", before + samples[at]
            if kind in _REPEATS:
                body = _sample(value[2], choice) or _sample(value[2], 0)
                yield from (("", body), (before, body), (before + body, samples[at]))
                yield "", before + 3 * body
                if at + 1 < len(items):
                    yield "", body + samples[at + 1]
                    yield before, body + samples[at + 1]
        yield from (("", one + other) for one, other in pairwise(samples))
    for inner in _inner(items):
        yield from _own_runs(inner)


def _repeats(items: Iterable[Any]) -> bool:
    """Return whether something in a part of a pattern repeats often."""
    return any(
        (kind in _REPEATS and value[1] > _OFTEN) or any(map(_repeats, _inner([(kind, value)])))
        for kind, value in items
    )


def _inner(items: Iterable[Any]) -> Iterator[Iterable[Any]]:
    for kind, value in items:
        if kind is op.BRANCH:
            yield from value[1]
        elif kind in _REPEATS:
            yield value[2]
        elif kind is op.SUBPATTERN:
            yield value[3]
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield value[1]
        elif kind is op.ATOMIC_GROUP:
            yield value


def _sample(items: Iterable[Any], choice: int) -> str:
    """Return a text that some parts of a pattern match, but for what they ask of others."""
    parts = []
    for kind, value in items:
        if kind is op.LITERAL:
            parts.append(chr(value))
        elif kind in (op.ANY, op.NOT_LITERAL):
            parts.append(next(c for c in "a -"[choice:] + "ab" if ord(c) != value))
        elif kind is op.IN:
            members = _members(value)
            parts.append(members[choice % len(members)])
        elif kind is op.BRANCH:
            parts.append(_sample(value[1][choice % len(value[1])], choice))
        elif kind in _REPEATS:
            parts.append(_sample(value[2], choice) * min(max(value[0], 1), 99))
        elif kind is op.SUBPATTERN:
            parts.append(_sample(value[3], choice))
        elif kind is op.ATOMIC_GROUP:
            parts.append(_sample(value, choice))
    return "".join(parts)


def _members(given: Iterable[Any]) -> str:
    found, negated = "", False
    for kind, value in given:
        if kind is op.NEGATE:
            negated = True
        elif kind is op.LITERAL:
            found += chr(value)
        elif kind is op.RANGE:
            found += chr(value[0])
        else:
            found += _CLASSES[value]
    if not negated:
        return found
    ranges = [value for kind, value in given if kind is op.RANGE]
    kinds = {value for kind, value in given if kind is op.CATEGORY}
    free = [
        c
        for c in "a -1.,(<\n\"'中"
        if c not in found
        and not any(low <= ord(c) <= high for low, high in ranges)
        and not (c.isspace() and op.CATEGORY_SPACE in kinds)
        and not ((c.isalnum() or c == "_") and op.CATEGORY_WORD in kinds)
        and not (not c.isalnum() and op.CATEGORY_NOT_WORD in kinds)
        and not (not c.isspace() and op.CATEGORY_NOT_SPACE in kinds)
    ]
    return "".join(free) or "\x01"


def filled(begin: str, run: str, end: str, size: int) -> str:
    """Return a text of about a size in characters."""
    return begin + run * max(2, size // len(run)) + end


def seconds(call: Callable[[], Any], tries: int = 1) -> float:
    """Return the least processor time of some calls."""
    least = float("inf")
    for _ in range(tries):
        begin = time.process_time()
        call()
        least = min(least, time.process_time() - begin)
    return least


def too_slow(
    call: Callable[[str], Any],
    made: Callable[[int], str],
    first: int = _FIRST,
    noise: float = _NOISE,
    slowest: float = _SLOWEST,
) -> str | None:
    """Return how a call's time grows where it grows faster than its text, else None.

    `made` returns a text of a size in characters; `first` is the size to begin with, `noise` the
    seconds below which nothing is measured, `slowest` the seconds a character may cost.
    """

    def spent_on(text: str, tries: int) -> float:
        return seconds(lambda: call(text), tries)

    for size in (24, 256, first):
        text = made(size)
        if spent_on(text, 1) > noise:
            break
    else:
        return None
    told, steep = [], 0
    spent = spent_on(text, 3)
    while spent > noise / 2:
        told.append(f"{len(text):,} characters {spent:.4f} s")
        if spent > slowest * max(len(text), 1000):
            return ", ".join(told)
        before, length, size = spent, len(text), 2 * size
        text = made(size)
        spent = spent_on(text, 3)
        if spent <= _GROWTH / 2 * before * len(text) / length:
            return None
        steep += 1
        if steep > 1 and spent > 20 * noise:
            return ", ".join([*told, f"{len(text):,} characters {spent:.4f} s"])
    return None
