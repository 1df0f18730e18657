"""The five-part prompt of step III (MindMap, section 3.3 and Table 8), in words of our own.

System instruction, question, evidence graphs, graph-of-thought instruction and exemplar are
concatenated, not filled into a template: braces in a question or a name stay as they are.
"""

import tomllib
from pathlib import Path
from typing import Any

from kgp_neo4j.mindmap.aggregate import routes
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.mindmap import ReasoningGraph

#: What the prompts are made of, and the one that describes evidence graphs.
PROMPTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text("utf-8"))
#: The form of a reply as a grammar (GBNF), for engines that keep to one.
FORM: str = PROMPTS["form"]


def five_parts(question: str, reasoning: ReasoningGraph) -> str:
    """Return the prompt: system instruction, question, evidence, how to think, and an example."""
    evidence = evidence_lines(reasoning) or ["(none was found)"]
    parts = [
        PROMPTS["system"],
        f"Question:\n{question.strip()}",
        "\n".join(["Evidence from the knowledge graph:", *evidence]),
        *said_of_mentions(reasoning),
        PROMPTS["thought"],
        PROMPTS["exemplar"],
        "Your reply:",
    ]
    return "\n\n".join(parts)


def said_of_mentions(reasoning: ReasoningGraph) -> list[str]:
    """Return what the question says of its entities, and what lacks them, for a model."""
    lines = [
        f"Taken as {text} in the question: {plain(', '.join(names))}."
        for status, text in PROMPTS["mentions"].items()
        if (names := [e.name for e in reasoning.entities if e.id and e.status == status])
    ]
    if lacking := reasoning.lacking:
        names = [name for _, name, _ in (*lacking.found, *lacking.unrelated)]
        shown = plain(", ".join(names)) or "none"
        lines.append(f"By the graph, {lacking.total} lack it: {shown}.")
    return lines


def evidence_lines(reasoning: ReasoningGraph) -> list[str]:
    """Return the merged evidence graphs as numbered routes, a line each."""
    lines = reasoning.routes or routes(reasoning.evidence, reasoning.merged)
    return [f"Evidence {number}: {plain(route)}" for number, route in enumerate(lines, 1)]
