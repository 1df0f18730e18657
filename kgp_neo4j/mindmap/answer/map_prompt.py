"""Prompts of steps II and III (MindMap, sections 3.2 and 3.3, Table 8), in words of our own.

Step III's system instruction, question, evidence graphs, graph-of-thought instruction and exemplar
are concatenated, not filled into a template: braces in a question or a name stay as they are.
"""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import regex

from kgp_neo4j.mindmap.aggregate import routes, same
from kgp_neo4j.text.safe import neutral, plain
from kgp_neo4j.types.language import Write
from kgp_neo4j.types.mindmap import EvidenceGraph, ReasoningGraph

#: What the prompts are made of, and the one that describes evidence graphs.
PROMPTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text("utf-8"))
#: The form of a reply as a grammar (GBNF), for engines that keep to one.
FORM: str = PROMPTS["form"]
_NUMBERED = regex.compile(r"^[^\w\n]*+(\d++)\s*+[.:：、)）]\s*+(\S.*)$", regex.MULTILINE)
_NUMBER = regex.compile(r"\d+(?:\.\d+)?")


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


def describe(reasoning: ReasoningGraph, question: str, write: Write) -> ReasoningGraph:
    """Return a reasoning graph whose routes a model has put into sentences.

    The path-based and the neighbour-based evidence are a call each (MindMap, section 3.2). A
    sentence stays where it names all entities of its route and no number that the route lacks;
    else the route itself stays. What a sentence says of them is not checked.
    """
    lines: list[str] = []
    for kind in ("path", "neighbour"):
        evidence = [each for each in reasoning.evidence if each.kind == kind]
        # A route of its own for each piece of evidence, so that its entities are known.
        numbered = [
            (plain(route), each) for each in evidence for route in routes([each], reasoning.merged)
        ]
        if not numbered:
            continue
        listed = "\n".join(f"{at}. {route}" for at, (route, _) in enumerate(numbered, 1))
        shown = f"Question:\n{question.strip()}\n\n{kind.title()}-based evidence:\n{listed}"
        form = " ".join(rf'"{at}. " [^\n]{{1,300}} "\n"' for at in range(1, len(numbered) + 1))
        reply = write(f"{PROMPTS['describe']}\n{shown}\n\nReply:", grammar=f"root ::= {form}")
        reply = neutral(reply, shown)
        sentences = {int(number): plain(text) for number, text in _NUMBERED.findall(reply)}
        for at, (route, each) in enumerate(numbered, 1):
            sentence = sentences.get(at, "")
            lines.append(sentence if _is_carried(sentence, route, each, reasoning) else route)
    return replace(reasoning, routes=tuple(dict.fromkeys(lines)))


def _is_carried(sentence: str, route: str, evidence: EvidenceGraph, graph: ReasoningGraph) -> bool:
    """Return whether a sentence names the entities of its route, and no number of its own."""
    names = {same(graph.merged.get(x, x)) for t in evidence.triples for x in (t.head, t.tail)}
    named = all(name in same(sentence) for name in names if name in same(route))
    numbers, known = ({*_NUMBER.findall(text)} for text in (sentence, route))
    return bool(sentence) and named and numbers <= known
