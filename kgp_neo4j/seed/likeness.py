"""How words of two names are alike: in how they begin, by an ending, as parts of one another."""

from __future__ import annotations

__all__ = ["begin_alike", "compound", "inflected"]


def begin_alike(some: set[str], others: set[str]) -> bool:
    """Say whether words of two names begin alike, but are not the same."""
    return any(a[:5] == b[:5] for a in some for b in others if min(len(a), len(b)) >= 5)


def compound(some: set[str], others: set[str]) -> bool:
    """Say whether a word is made of one of the others and a word more: "toothache" of "tooth"."""
    return any(
        len(a) >= 3 and abs(len(a) - len(b)) >= 3 and (b.startswith(a) or a.startswith(b))
        for a in some
        for b in others
    )


def inflected(some: set[str], others: set[str]) -> bool:
    """Say whether one word is another with an ending ("nauseous", "nausea"): nothing but words."""
    if len(some) != 1 or len(others) != 1:
        return False
    (a,), (b,) = some, others
    return a[: min(len(a), len(b)) - 1] == b[: min(len(a), len(b)) - 1]
