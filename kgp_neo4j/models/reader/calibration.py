"""How often a reading is right: the reader's scores as probabilities that were measured.

Platt scaling of a few signals (Platt 1999), or temperature alone, fitted on questions that the
reader was not trained on; its figures are in the reader's card.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgp_neo4j.models.reader.choosing import SIGNALS, Choice

__all__ = ["Calibration"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic function of a choice's signals; below `threshold` nothing is stated."""

    bias: float = 0.0
    weights: tuple[tuple[str, float], ...] = (("margin", 0.3),)
    threshold: float = 0.0

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Calibration:
        """Return the calibration that a card tells; that of an untrained reader where it doesn't.

        Raises ValueError for signals that are not known.
        """
        if not said:
            return cls()
        weights = tuple((str(name), float(w)) for name, w in said["weights"].items())
        if unknown := {name for name, _ in weights} - set(SIGNALS):
            raise ValueError(f"unknown signals {', '.join(sorted(unknown))}")
        return cls(float(said["bias"]), weights, float(said["threshold"]))

    def confidence(self, choice: Choice) -> float:
        """Return how likely a choice is right, from 0 to 1."""
        score = self.bias + sum(w * choice.signals.get(name, 0.0) for name, w in self.weights)
        return 1.0 / (1.0 + math.exp(-max(min(score, 30.0), -30.0)))

    def nothing(self, choice: Choice) -> float:
        """Return how sure it is that the passages hold no answer."""
        return 1.0 if choice.kind == "none" and not choice.signals else 1 - self.confidence(choice)
