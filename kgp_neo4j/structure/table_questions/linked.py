"""What a question's words are linked to: cells, columns, numbers and dates of a table."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgp_neo4j.structure.table_questions.plans import Condition

__all__ = ["ColumnLink", "Link", "Links"]


@dataclass(frozen=True, slots=True)
class Link:
    """A condition that words `start`..`end` of the question speak for.

    `exact` says that the whole cell is named; `share` is the part of the (shortest) cell's words
    that the question has; `agrees` says how well a comparison fits the words round its number.
    """

    condition: Condition
    start: int
    end: int
    exact: bool = True
    share: float = 1.0
    agrees: float = 0.0
    header: bool = False


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """How well a question names a column: the share of the header's words, and where."""

    score: float = 0.0
    words: int = 0
    places: tuple[int, ...] = ()
    after_what: bool = False
    whole: bool = False


@dataclass(slots=True)
class Links:
    """A question's words (and their stems), and all that they are linked to."""

    text: str
    words: list[str]
    stems: list[str]
    cells: list[Link] = field(default_factory=list)
    numbers: list[Link] = field(default_factory=list)
    dates: list[Link] = field(default_factory=list)
    columns: list[ColumnLink] = field(default_factory=list)
    #: Where numbers stand (as one number word each).
    number_places: dict[int, float] = field(default_factory=dict)
    ordinals: set[int] = field(default_factory=set)
