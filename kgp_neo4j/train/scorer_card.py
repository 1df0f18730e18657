"""The model card of a trained scorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["card"]


def card(description: Mapping[str, Any], reached: Mapping[str, float]) -> str:
    """Return the card in Markdown: what it is, what it was trained on, what it reaches."""
    rows = "\n".join(
        f"| {corpus} | {said['file']} | {said['questions']} | {100 * reached[corpus]:.1f} |"
        for corpus, said in description["questions"].items()
    )
    settings = ", ".join(f"{name} {value}" for name, value in description["settings"].items())
    return f"""# Scorer of the learned agent

Boosted regression trees (LambdaMART) that judge the passages of each hop of a traversal by signals
of the graph. `scorer.json` is text: one tree a line, each split with its feature and threshold.

- Encoder of the passages: {", ".join(description["encoder"])}
- Settings: {settings}

| corpus | questions from | questions | R@5 in cross-validation |
|---|---|---|---|
{rows}

R@5 is the share of supporting facts among the first five passages, of questions that the trees had
not seen. Made by `kgp-neo4j train scorer`. The licence of the training data governs what may be
done with the trees beyond it.
"""
