"""The frozen types of reading: what a reader found, and the sentences of an answer, checked."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Reading", "Span", "Statement"]


@dataclass(frozen=True, slots=True)
class Span:
    """Where an answer stands in a passage; offsets within the passage's text."""

    passage: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found in passages.

    `kind` is `span` (words of a passage), `yes`, `no`, or `none` (not in the evidence, `text` is
    empty); `confidence` from 0 to 1 is calibrated: how often answers of this kind are right.
    `spans` say where it stands; for yes and no, the sentence that says so.
    """

    text: str
    kind: str
    confidence: float
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer with the passages that it cites, checked.

    `carried` says whether the passages cited hold what it says; `support` from 0 to 1 is how well,
    `note` what is wrong where it is not (no citation, no such passage, words not in them).
    """

    text: str
    passages: tuple[str, ...]
    carried: bool
    support: float = 0.0
    note: str = ""
