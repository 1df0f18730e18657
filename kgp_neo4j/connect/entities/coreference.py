"""People called by their last name alone, after their full name was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgp_neo4j.connect.entities.names import is_person_like
from kgp_neo4j.connect.entities.spots import goes_on, is_name_word
from kgp_neo4j.connect.entities.text import Words, cut

__all__ = ["FullName", "last_names"]


@dataclass(frozen=True, slots=True)
class FullName:
    """A name that was said, whom it names, and from where in the text on it is known."""

    name: str
    entity: str
    since: int


def last_names(
    words: Words, known: Sequence[FullName], taken: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    """Yield where a last name stands alone, outside of `taken` (in order), and whose it is.

    A last name that two of the known have names neither of them.
    """
    called: dict[str, FullName | None] = {}
    for full in known:
        raw = cut(full.name.split(" (")[0]).raw
        if is_person_like(raw):
            other = called.get(raw[-1], full)
            called[raw[-1]] = other if other and other.entity == full.entity else None
    if not called:
        return
    spans = iter(taken)
    covered = next(spans, None)
    for at, raw_word in enumerate(words.raw):
        start, end = words.starts[at], words.ends[at]
        while covered is not None and covered[1] <= start:
            covered = next(spans, None)
        full_name = called.get(raw_word)
        if full_name is None or start < full_name.since:
            continue
        if covered is not None and covered[0] < end:
            continue
        if at > 0 and goes_on(words, at) and is_name_word(words, at - 1):
            continue  # somebody else's full name
        if at + 1 < len(words.raw) and goes_on(words, at + 1) and is_name_word(words, at + 1):
            continue
        yield start, end, full_name.entity
