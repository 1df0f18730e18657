"""The share of an answer's entities that the evidence supports (MindMap, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kgp_neo4j.mindmap.answer.same_names import names_within, same

__all__ = ["Grounding", "grounding", "known_names"]


@dataclass(frozen=True, slots=True)
class Grounding:
    """The share of an answer's entities that the evidence supports.

    `named` are the entities of a vocabulary (the graph's names) that the answer names, `carried`
    those of them that the evidence or the question names too. `share` is carried / named, and 1
    minus it is the share hallucinated; None where the answer names none.
    """

    named: tuple[str, ...]
    carried: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """Return the share of the answer's entities that the evidence supports."""
        return len(self.carried) / len(self.named) if self.named else None


def known_names(vocabulary: Iterable[str]) -> dict[str, str]:
    """Return the names of a vocabulary by the form in which names are compared."""
    known: dict[str, str] = {}
    for name in vocabulary:
        known.setdefault(same(name), name)
    return known


def grounding(
    answer: str, evidence: Iterable[str], known: Mapping[str, str], question: str = ""
) -> Grounding:
    """Return the known names in an answer, and those of them that the evidence supports.

    The longest matching name counts, not the shorter ones within it. Names are compared in the form
    of `known_names`; Chinese ones are found within the text, others as whole words.
    """
    held = {same(name) for name in evidence}
    longest = max(map(len, known), default=0)
    asked = set(names_within(same(question), known, longest))
    named = names_within(same(answer), known, longest)
    return Grounding(
        tuple(known[key] for key in named),
        tuple(known[key] for key in named if key in held or key in asked),
    )
