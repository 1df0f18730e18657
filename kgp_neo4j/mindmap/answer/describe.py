"""Describes evidence graphs by a language model (MindMap, section 3.2), checked against them."""

from dataclasses import replace

import regex

from kgp_neo4j.mindmap.aggregate import routes
from kgp_neo4j.mindmap.answer.map_prompt import PROMPTS
from kgp_neo4j.mindmap.answer.same_names import same
from kgp_neo4j.text.safe import neutral, plain
from kgp_neo4j.types.language import Write
from kgp_neo4j.types.mindmap import EvidenceGraph, ReasoningGraph

_NUMBERED = regex.compile(r"^[^\w\n]*+(\d++)\s*+[.:：、)）]\s*+(\S.*)$", regex.MULTILINE)
_NUMBER = regex.compile(r"\d+(?:\.\d+)?")


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


def _is_carried(
    sentence: str, route: str, evidence: EvidenceGraph, reasoning: ReasoningGraph
) -> bool:
    """Return whether a sentence names the entities of its route, and no number of its own."""
    names = {reasoning.merged.get(x, x) for t in evidence.triples for x in (t.head, t.tail)}
    within = same(sentence)
    return (
        bool(sentence)
        and all(same(name) in within for name in names if same(name) in same(route))
        and set(_NUMBER.findall(sentence)) <= set(_NUMBER.findall(route))
    )
