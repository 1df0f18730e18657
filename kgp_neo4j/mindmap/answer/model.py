"""What a model is asked (MindMap, sections 3.2 and 3.3, Table 8), and its reply as a mind map.

Step III's system instruction, question, evidence graphs, graph-of-thought instruction and exemplar
are concatenated, not filled into a template: braces in a question or a name stay as they are.
"""

import tomllib
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import regex

from kgp_neo4j.llm.chat import without_reasoning
from kgp_neo4j.mindmap.link.name_forms import routes, same, same_relation
from kgp_neo4j.text.safe import neutral, plain, printable
from kgp_neo4j.types.language import Write
from kgp_neo4j.types.mindmap import EvidenceGraph, MapEdge, ModelReply, ReasoningGraph

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


#: A line such as "Output 1:", "### **Output 3 (mind map):**" or "输出2：": any word and its number.
#: Possessive: a line of nothing but marks would else be tried at each of its places.
_HEADING = regex.compile(
    r"^(?:[^\S\n]|[>#*_`\-])*+(\p{L}++)\s*+([123])[^\S\n]*+"
    r"(?:[(（][^()（）\n]*[)）])?[ *_`]*+(?:[:：][ *_`]*|$)",
    regex.MULTILINE,
)
_FENCE = regex.compile(r"^[^\S\n]*+(?:```|~~~).*$", regex.MULTILINE)


def parse_reply(
    text: str,
    entities: AbstractSet[str] = frozenset(),
    relations: AbstractSet[str] = frozenset(),
    known: str = "",
) -> ModelReply:
    """Parse a reply by its headings, cleaned; nothing in it is checked or used as a template.

    `known` is the text of the question and the evidence, whose addresses may stay.
    """
    parts = _parts(_FENCE.sub("", printable(without_reasoning(text))))
    edges = []
    for edge in read_edges(parts.get("3", ""), entities, relations):
        names = (edge.head, edge.relation, edge.tail)
        head, relation, tail = (plain(neutral(name, known)) for name in names)
        edges.append(MapEdge(head, relation, tail, "model"))
    said = (neutral(parts.get(number, ""), known) for number in "12")
    answer, inference = (part.strip().strip("*").strip() for part in said)
    return ModelReply(text, answer, inference, tuple(edges))


def _parts(text: str) -> dict[str, str]:
    """Split a reply at its headings; without them all of it is the answer."""
    by_word: dict[str, dict[str, regex.Match[str]]] = {}
    for heading in _HEADING.finditer(text):
        # A repeated heading is a line of the part that it is in.
        by_word.setdefault(heading[1].casefold(), {}).setdefault(heading[2], heading)
    # "Evidence 1:" may stand in a part: headings have the word with the most numbers.
    headings = max(by_word.values(), key=len, default={})
    if not headings:
        return {"1": text}
    first, *others = headings.values()
    ends = [*(heading.start() for heading in others), len(text)]
    parts = zip(headings, headings.values(), ends, strict=True)
    return {"1": text[: first.start()]} | {n: text[h.end() : end] for n, h, end in parts}


# --- Trees and arrows ---

#: Longer texts are sentences, not names.
_LONGEST_NAME = 160
_MOST_EDGES = 500
#: What the prompt asks for behind a name: where it is from.
_MARK = regex.compile(r"[(（\[]\s*(?:evidence|证据|own\b)[^()（）\[\]]*[)）\]]", regex.I)
_ARROW = regex.compile(r"(?<!\s)\s*+(?:[-─=—]{1,40}[>▶►]|[→⇒]|<[-─=—]{1,40}(?![>▶])|[←⇐])\s*+")
_BACK = regex.compile(r"[<←⇐]")
#: `-[r]->`, `-- r -->` and `--r-->`, which are read as `-> r ->`.
_LABELLED = regex.compile(
    r"(?:(?<=\s)[-─=]{1,3}|[-─=]{2,3}|[-─=](?=\s*\[))\s*+\[?+\s*+"
    r"([^-─=<>|\[\]()\s]++(?:\s++[^-─=<>|\[\]()\s]++)*+)\s*+\]?+\s*+[-─=]{1,3}[>▶►]"
)
_BRANCH = regex.compile(r"^[\s│├└┬┴┼─|+`\\]*(?:--+\s*|[-*•·]\s+|\d+[.)、]\s*)?")


@dataclass(slots=True)
class _Node:
    """A name as it was written, with the relation before it and what is below it in a tree."""

    name: str
    relation: str = ""
    children: list["_Node"] = field(default_factory=list)


def _name(text: str) -> str:
    """Return a name without marks, quotes, brackets, Markdown and closing punctuation."""
    name, before = " ".join(_MARK.sub(" ", text).split()), ""
    while name != before:
        before = name
        name = name.strip(" \"'`*<>“”‘’「」:：,，;；").removesuffix("。").strip()
        if name.startswith("(") and name.endswith(")") and name.count("(") == 1:
            name = name[1:-1]
    return name[:_LONGEST_NAME]


def read_edges(
    text: str, entities: AbstractSet[str] = frozenset(), relations: AbstractSet[str] = frozenset()
) -> list[MapEdge]:
    """Return the edges of a mind map, each once and none of them checked.

    `entities` and `relations` are the known names, normalised by `same` and `same_relation`: they
    tell relations from entities in trees and chains that mix both.
    """
    reader = _Reader(entities, relations)
    edges: list[MapEdge] = []
    roots: list[_Node] = []
    above: list[tuple[int, _Node]] = []
    for line in text.splitlines():
        line = line.replace("\t", "    ")
        place = len(_BRANCH.match(line)[0])
        rest = line[place:].strip()
        if not regex.search(r"[\p{L}\p{N}]", rest) or len(rest) > 20 * _LONGEST_NAME:
            continue
        split = str(_LABELLED.sub(r" -> \1 -> ", rest))
        if reader.is_chain(split, place):
            edges += reader.chain(split)
        elif len(rest) <= 2 * _LONGEST_NAME and (node := reader.node(rest, place)):
            while above and above[-1][0] >= place:
                above.pop()
            (above[-1][1].children if above else roots).append(node)
            above.append((place, node))
    for root in roots:
        edges += reader.tree(root)
    return list(dict.fromkeys(e for e in edges if same(e.head) != same(e.tail)))[:_MOST_EDGES]


class _Reader:
    """Reads lines into edges, with the names that the evidence has."""

    def __init__(self, entities: AbstractSet[str], relations: AbstractSet[str]) -> None:
        self._entities, self._relations = entities, relations

    def is_chain(self, text: str, place: int) -> bool:
        """Return whether a line is a route of its own, rather than a tree's `relation -> name`."""
        parts = [part for part in _ARROW.split(text) if part.strip()]
        if len(parts) != 2:
            return len(parts) > 2
        first = _name(parts[0])
        is_start = place == 0 and same_relation(first) not in self._relations
        return same(first) in self._entities or is_start

    def chain(self, text: str) -> Iterator[MapEdge]:
        """Yield the edges of `A -> r -> B` and longer ones, in either direction."""
        names = [_name(part) for part in _ARROW.split(text)]
        back = [bool(_BACK.search(arrow)) for arrow in _ARROW.findall(text)]
        if not all(names):
            return
        middle = names[1::2]
        alternates = len(names) % 2 == 1 and (
            any(same_relation(name) in self._relations for name in middle)
            or not any(same(name) in self._entities for name in middle)
        )
        step = 2 if alternates else 1
        for at in range(0, len(names) - step, step):
            ends = names[at], names[at + step]
            head, tail = reversed(ends) if back[at] else ends
            yield MapEdge(head, names[at + 1] if alternates else "", tail, "model")

    def node(self, text: str, place: int) -> _Node | None:
        """Read a line of a tree: a name, `relation -> name` or `relation: name`."""
        bare = _MARK.sub(" ", text).replace("：", ":").strip()
        node = _Node(_name(bare))
        *before, last = [part for part in _ARROW.split(bare) if part.strip()] or [bare]
        first, colon, rest = bare.partition(":")
        if before:
            node = _Node(_name(last), _name(before[-1]))
        elif colon and rest.strip() and same_relation(first) in self._relations:
            node = _Node(_name(rest), _name(first))
        elif place == 0 and bare.endswith(":") and same(node.name) not in self._entities:
            return None  # it introduces what follows
        return node if node.name else None

    def tree(self, root: _Node) -> Iterator[MapEdge]:
        """Yield the edges of a tree, breadth first; relations may have lines of their own."""
        #: A node with the entity above and the relation between them.
        queue: list[tuple[_Node, str, str]] = [(root, "", "")]
        for node, entity, relation in queue:
            is_entity = node.relation or same(node.name) in self._entities
            is_relation = node.children or same_relation(node.name) in self._relations
            if entity and not relation and is_relation and not is_entity:
                queue += [(child, entity, node.name) for child in node.children]
                continue
            if entity:
                yield MapEdge(entity, relation or node.relation, node.name, "model")
            queue += [(child, node.name, "") for child in node.children]
