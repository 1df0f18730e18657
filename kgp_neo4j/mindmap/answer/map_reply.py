"""Reads a model's reply into answer, inference and a mind map drawn in trees and arrows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import regex

from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.mindmap.answer.same_names import same, same_relation
from kgp_neo4j.types.mindmap import MapEdge, ModelReply

__all__ = ["parse_reply", "read_edges"]

# Possessive: a line of nothing but marks would else be tried at each of its places.
_LEAD = r"^[\s>#*_`\-]*+(?:\d[.)、]\s*+)?[*_]*+"
_END = r"[*_`]*\s*(?:[:：.\-–—]+|$)[*_`]*\s*"
_NUMBERED_PART = r"(?:output|part|输出|结果)\s*[#（(]?\s*(?:{})[)）]?"
#: The words of a heading, and how its number may be written.
_HEADINGS = {
    "answer": (r"(?:final\s+|summary\s+)?answer|summary|回答|答案|结论", "1|one|一"),
    "inference": (r"(?:the\s+)?(?:inference|reasoning)(?:\s+process)?|推理(?:过程)?", "2|two|二"),
    "map": (r"(?:the\s+)?(?:mind\s*map|decision\s+tree)|思维导图|决策树", "3|three|三"),
}
#: What may follow "Output 1", such as ": the answer".
_TITLE = rf"(?:\s*[(（:：\-–—]\s*(?:{'|'.join(w for w, _ in _HEADINGS.values())})[)）]?)*"
_PATTERNS = {
    name: regex.compile(
        f"{_LEAD}(?:{_NUMBERED_PART.replace('{}', number)}|{words}){_TITLE}{_END}", regex.IGNORECASE
    )
    for name, (words, number) in _HEADINGS.items()
}
_DRAWN = regex.compile(r"[├└│→⇒▶]|--?>")


def parse_reply(
    text: str, entities: AbstractSet[str] = frozenset(), relations: AbstractSet[str] = frozenset()
) -> ModelReply:
    """Parse a reply by its headings, or by what looks like a drawing; no edge is checked.

    Where the mind map has no edge, the routes of the inference are read as edges. Nothing in a
    reply is ever run or used as a template.
    """
    bare = without_reasoning(text)
    parts = _headed(bare) or _unheaded(bare)
    edges = read_edges(parts.get("map", ""), entities, relations)
    edges = edges or read_edges(parts.get("inference", ""), entities, relations)
    answer, inference = (_clean(parts.get(name, "")) for name in ("answer", "inference"))
    return ModelReply(text, answer, inference, tuple(edges))


def _headed(text: str) -> dict[str, str]:
    """Split a reply at its headings; what stands before the first one is the answer if no other."""
    parts: dict[str, list[str]] = {}
    before: list[str] = []
    lines = before
    for line in text.splitlines():
        heading = next(((n, m) for n, p in _PATTERNS.items() if (m := p.match(line))), None)
        # A repeated heading is a line of the part that it is in.
        if heading and heading[0] not in parts:
            lines = parts[heading[0]] = [line[heading[1].end() :]]
        else:
            lines.append(line)
    if not parts:
        return {}
    parts.setdefault("answer", before)
    texts = {name: "\n".join(lines) for name, lines in parts.items()}
    return texts if len(texts) > 1 else _unheaded(texts["answer"])


def _unheaded(text: str) -> dict[str, str]:
    """Split a reply without headings at the first drawn line: answer before it, mind map after."""
    lines = text.splitlines()
    first = next((at for at, line in enumerate(lines) if _DRAWN.search(line)), len(lines))
    if first == len(lines):
        return {"answer": text}
    # A tree's root is on the line before the first branch, without a mark.
    if first and regex.search(r"[├└│]", lines[first]) and lines[first - 1].strip():
        first -= 1
    return {"answer": "\n".join(lines[:first]), "map": "\n".join(lines[first:])}


def _clean(text: str) -> str:
    unfenced: str = regex.sub(r"^\s*```\w*\s*$", "", text, flags=regex.MULTILINE)
    closed: str = regex.sub(r"\n{3,}", "\n\n", unfenced)
    return closed.strip().strip("*").strip()


# --- Trees and arrows ---

#: Longer texts are sentences, not names.
_LONGEST_NAME = 160
_MOST_EDGES = 500
_FENCE = regex.compile(r"^\s*(?:```|~~~)")
_MARK = regex.compile(
    r"[(（\[【]\s*([^()（）\[\]【】]*?(?:\bev(?:idence)?\b|证据|\bown\b|自有|已有知识)[^()（）\[\]【】]*)[)）\]】]",
    regex.IGNORECASE,
)
_ARROW = regex.compile(r"\s*(?:(?:[-─=—]+|[-─=.]*-)[>▶►]|[→⇒⟶➜➔]|<[-─=—]+(?![>▶])|[←⇐⟵])\s*")
_BACK = regex.compile(r"[<←⇐⟵]")
_DASH = r"(?:(?<=\s)[-─=]{1,3}|[-─=]{2,3}|[-─=](?=\s*[\[(|]))"
_LABEL = r"\s*[\[(|]?\s*([^-─=<>|\[\]()]+?)\s*[\])|]?\s*"
_LABELLED = regex.compile(rf"{_DASH}{_LABEL}[-─=]{{1,3}}[>▶►]")
_LABELLED_BACK = regex.compile(rf"<[-─=]{{1,3}}{_LABEL}[-─=]{{1,3}}(?![-─=>▶►])")
#: A line of a tree drawn from the top down with slashes: its edges cannot be told reliably.
_SLASHES = regex.compile(r"^[\s|│/\\_X\-]*[/\\][\s|│/\\_X\-]*$")
_INTRODUCES = regex.compile(
    r"(?:决策树|思维导图|mind ?map|decision tree|as follows|如下)[^:：]*[:：]?\s*$",
    regex.IGNORECASE,
)
_BRANCH = regex.compile(
    r"^[\s│├└┌┬┴┼─━┃┣┗╰|+`\\]*(?:--+\s*|[-*•·●○▪]\s+|\d+[.)、]\s*)?(?:[│├└─|]+\s*)?"
)
_ROUTE = regex.compile(
    r"(?:ev(?:idence)?|证据)\s*(\d+)\s*[(（:：]\s*(?=['‘’\"“])(.*?)(?:[)）]|$)", regex.IGNORECASE
)


@dataclass(slots=True)
class _Node:
    """A name as it was written, with the evidence numbers beside it."""

    name: str
    evidence: tuple[int, ...] = ()
    relation: str = ""
    children: list[_Node] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> _Node:
        """Read a name without its marks, quotation marks, Markdown and closing punctuation."""
        marks = " ".join(_MARK.findall(text))
        numbers = dict.fromkeys(int(n) for n in regex.findall(r"\d{1,4}", marks))
        name, before = " ".join(_MARK.sub(" ", text).split()), ""
        while name != before:
            before = name
            name = name.strip(" \"'`*“”‘’「」:：,，;；").removesuffix("。").strip()
            if name.startswith("(") and name.endswith(")") and name.count("(") == 1:
                name = name[1:-1]
        return cls(name[:_LONGEST_NAME], tuple(numbers))


def read_edges(
    text: str, entities: AbstractSet[str] = frozenset(), relations: AbstractSet[str] = frozenset()
) -> list[MapEdge]:
    """Return the edges of a mind map, each once and none of them checked.

    `entities` and `relations` are the known names, normalised by `same` and `same_relation`: they
    tell relations from entities in trees and chains that mix both.
    """
    reader = _Reader(entities, relations)
    lines = [line.replace("\t", "    ") for line in text.splitlines() if line.strip()]
    edges: list[MapEdge] = []
    tree: list[tuple[int, _Node]] = []
    for line in lines:
        branch = _BRANCH.match(line)
        place = branch.end() if branch else 0
        rest = line[place:].strip()
        is_text = regex.search(r"[\p{L}\p{N}]", rest) and len(rest) <= 20 * _LONGEST_NAME
        if _FENCE.match(line) or not is_text:
            continue
        if routes := _ROUTE.findall(rest):
            for number, route in routes:
                edges += reader.chain(route, (int(number),))
        elif reader.is_chain(rest, place):
            edges += reader.chain(rest)
        elif len(rest) <= 2 * _LONGEST_NAME and not (_INTRODUCES.search(rest) and place == 0):
            tree.append((place, reader.node(rest)))
    if not any(map(_SLASHES.match, lines)):
        for root in _roots(tree):
            edges += reader.tree(root)
    return list(dict.fromkeys(e for e in edges if same(e.head) != same(e.tail)))[:_MOST_EDGES]


def _edge(head: str, relation: str, tail: str, cited: Sequence[int]) -> MapEdge:
    return MapEdge(head, relation, tail, "model", evidence=tuple(dict.fromkeys(cited)))


def _split_labels(text: str) -> str:
    """Rewrite labelled arrows as two arrows: `-[r]->` as `-> r ->`."""
    text = _LABELLED.sub(r" -> \1 -> ", text)
    return str(_LABELLED_BACK.sub(r" <- \1 <- ", text))


def _roots(lines: Sequence[tuple[int, _Node]]) -> list[_Node]:
    """Build the trees of lines with their indentation; return their roots."""
    roots: list[_Node] = []
    above: list[tuple[int, _Node]] = []
    for place, node in lines:
        if not node.name:
            continue
        while above and above[-1][0] >= place:
            above.pop()
        (above[-1][1].children if above else roots).append(node)
        above.append((place, node))
    return roots


class _Reader:
    """Reads lines into edges, with the names that the evidence has."""

    def __init__(self, entities: AbstractSet[str], relations: AbstractSet[str]) -> None:
        self._entities, self._relations = entities, relations

    def is_chain(self, text: str, place: int) -> bool:
        """Return whether a line is a route of its own, rather than a tree's `relation -> name`."""
        parts = [part for part in _ARROW.split(_split_labels(text)) if part.strip()]
        if len(parts) != 2:
            return len(parts) > 2
        first = _Node.read(parts[0]).name
        is_start = place == 0 and same_relation(first) not in self._relations
        return same(first) in self._entities or is_start

    def chain(self, text: str, evidence: tuple[int, ...] = ()) -> Iterator[MapEdge]:
        """Yield the edges of `A -> r -> B`, `A -[r]-> B` and longer ones, in either direction."""
        text = _split_labels(text)
        nodes = [_Node.read(part) for part in _ARROW.split(text)]
        back = [bool(_BACK.search(arrow)) for arrow in _ARROW.findall(text)]
        named = [at for at, node in enumerate(nodes) if node.name]
        if len(named) < 2 or named[-1] - named[0] >= len(named):
            return  # a name within the chain is missing
        nodes, back = nodes[named[0] : named[-1] + 1], back[named[0] : named[-1]]
        middle = [node.name for node in nodes[1::2]]
        alternates = len(nodes) % 2 == 1 and (
            any(same_relation(name) in self._relations for name in middle)
            or not any(same(name) in self._entities for name in middle)
        )
        step = 2 if alternates else 1
        for at in range(0, len(nodes) - step, step):
            ends = [nodes[at], nodes[at + step]]
            relation = nodes[at + 1] if alternates else _Node("")
            head, tail = reversed(ends) if back[at] else ends
            cited = (*evidence, *head.evidence, *relation.evidence, *tail.evidence)
            yield _edge(head.name, relation.name, tail.name, cited)

    def node(self, text: str) -> _Node:
        """Read a line of a tree: a name, `relation -> name` or `relation: name`."""
        node = _Node.read(text)
        bare = _MARK.sub(" ", text)
        *before, last = [part for part in _ARROW.split(bare) if part.strip()] or [bare]
        first, colon, rest = bare.replace("：", ":").partition(":")
        if before:
            node.name, node.relation = _Node.read(last).name, _Node.read(before[-1]).name
        elif colon and rest.strip() and same_relation(first) in self._relations:
            node.name, node.relation = _Node.read(rest).name, _Node.read(first).name
        return node

    def tree(self, root: _Node) -> list[MapEdge]:
        """Return the edges of a tree, breadth first."""
        alternates = self._alternates(root)
        edges: list[MapEdge] = []
        # (node, the entity above, the relation node between them)
        queue: list[tuple[_Node, _Node | None, _Node | None]] = [(root, None, None)]
        for node, entity, between in queue:
            is_relation = (
                alternates
                and entity is not None
                and between is None
                and same(node.name) not in self._entities
                and (bool(node.children) or same_relation(node.name) in self._relations)
            )
            if is_relation:
                queue += [(child, entity, node) for child in node.children]
                continue
            if entity is not None:
                relation = between or _Node(node.relation)
                cited = (*relation.evidence, *node.evidence)
                edges.append(_edge(entity.name, relation.name, node.name, cited))
            queue += [(child, node, None) for child in node.children]
        return edges

    def _alternates(self, root: _Node) -> bool:
        """Return whether entities and relations alternate from the root on, as in the paper."""
        levels = [[root]]
        while below := [child for node in levels[-1] for child in node.children]:
            levels.append(below)
        nodes = [node for level in levels for node in level]
        if any(node.relation for node in nodes):
            return False
        if any(
            same_relation(n.name) in self._relations and same(n.name) not in self._entities
            for n in nodes
        ):
            return True
        odd = [node for level in levels[1::2] for node in level]
        return bool(odd) and all(n.children and same(n.name) not in self._entities for n in odd)
