"""Reads a mind map as models write them: trees, arrows, tuples and Mermaid, into edges."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import regex

from kgp_neo4j.mindmap.answer.same_names import same, same_relation

__all__ = ["RawEdge", "read_edges"]

#: Longer texts are sentences, not names.
_LONGEST_NAME = 160
_MOST_EDGES = 500
_FENCE = regex.compile(r"^\s*(?:```|~~~)")
_MARK = regex.compile(
    r"[(（\[【]\s*([^()（）\[\]【】]*?(?:\bev(?:idence)?\b|证据|\bown\b|自有|已有知识)[^()（）\[\]【】]*)[)）\]】]",
    regex.IGNORECASE,
)
_OWN = regex.compile(r"\bown\b|自有|已有知识", regex.IGNORECASE)
_ARROW = regex.compile(r"\s*(?:(?:[-─=—]+|[-─=.]*-)[>▶►]|[→⇒⟶➜➔]|<[-─=—]+(?![>▶])|[←⇐⟵])\s*")
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
_BACK = regex.compile(r"[<←⇐⟵]")
_BRANCH = regex.compile(
    r"^[\s│├└┌┬┴┼─━┃┣┗╰|+`\\]*(?:--+\s*|[-*•·●○▪]\s+|\d+[.)、]\s*)?(?:[│├└─|]+\s*)?"
)
_INSIDE = regex.compile(
    r"(?:ev(?:idence)?|证据)\s*(\d+)\s*[(（:：]\s*(?=['‘’\"“])(.*?)(?:[)）]|$)", regex.IGNORECASE
)
_TUPLE = regex.compile(
    r"^[(（\[]\s*([^,，;；]+?)\s*[,，;；]\s*([^,，;；]+?)\s*[,，;；]\s*(.+?)\s*[)）\]]\s*[,.;]?$"
)
_MERMAID = regex.compile(
    r"^\s*(?:graph|flowchart|mindmap|subgraph|end\b|classDef|class\s|style|linkStyle|%%|direction)",
    regex.IGNORECASE,
)
#: A Mermaid node where it is named: A["Fatigue"], B(Anemia), C{{...}}.
_NODE = regex.compile(
    r"(?<![\w-])([\w-]+)(?:\[+|\(+|\{+)[\"(/\\\[]*([^\[\](){}\"]+)[\")/\\\]]*(?:\]|\)|\})+"
)


@dataclass(frozen=True, slots=True)
class RawEdge:
    """An edge as a model wrote it; `own` where the model says that it added one of the ends."""

    head: str
    relation: str
    tail: str
    evidence: tuple[int, ...] = ()
    own: bool = False


@dataclass(slots=True)
class _Node:
    text: str
    marks: tuple[int, ...]
    own: bool
    depth: int = 0
    relation: str = ""
    children: list[_Node] = field(default_factory=list)


def read_edges(
    text: str, entities: AbstractSet[str] = frozenset(), relations: AbstractSet[str] = frozenset()
) -> list[RawEdge]:
    """Return the edges of a mind map, each once.

    `entities` and `relations` are the known names, normalised by `same` and `same_relation`: they
    tell relations from entities in trees and chains that mix both.
    """
    lines = [line.replace("\t", "    ") for line in text.splitlines() if line.strip()]
    drawn = [line for line in lines if not (_FENCE.match(line) or _MERMAID.match(line))]
    ids = _mermaid_ids(drawn) if any(map(_MERMAID.match, lines)) else {}
    found: list[RawEdge] = []
    tree: list[tuple[int, _Node]] = []
    for line in drawn:
        branch = _BRANCH.match(line)
        place = branch.end() if branch else 0
        rest = line[place:].strip()
        if not regex.search(r"[\p{L}\p{N}]", rest) or len(rest) > 20 * _LONGEST_NAME:
            continue
        if triple := _TUPLE.match(rest):
            found += _edge(triple[1], triple[2], triple[3])
            continue
        inside = _INSIDE.findall(rest)
        if inside:
            for number, route in inside:
                found += _chain(route, (int(number),), entities, relations, ids)
        elif _is_chain(rest, place, entities, relations):
            found += _chain(rest, (), entities, relations, ids)
        elif len(rest) <= 2 * _LONGEST_NAME and not (_INTRODUCES.search(rest) and place == 0):
            tree.append((place, _node(rest, relations, ids)))
    if any(map(_SLASHES.match, drawn)):
        tree = []
    found += _tree_edges(tree, entities, relations)
    return list(dict.fromkeys(e for e in found if same(e.head) != same(e.tail)))[:_MOST_EDGES]


def _is_chain(
    text: str, place: int, entities: AbstractSet[str], relations: AbstractSet[str]
) -> bool:
    """Return whether a line is a route of its own, rather than a tree's `relation -> name`."""
    parts = [part for part in _ARROW.split(_split_labels(text)) if part.strip()]
    if len(parts) != 2:
        return len(parts) > 2
    first = _name(_marks(parts[0])[0])
    if same(first) in entities:
        return True
    return place == 0 and same_relation(first) not in relations


def _split_labels(text: str) -> str:
    """Rewrite labelled arrows as two arrows: `-[r]->` as `-> r ->`."""
    text = regex.sub(r"([>▶►])\s*\|([^|]*)\|", r"\1 \2 --> ", text)  # Mermaid's label
    text = _LABELLED.sub(r" -> \1 -> ", text)
    return str(_LABELLED_BACK.sub(r" <- \1 <- ", text))


# --- Names ---


def _marks(text: str) -> tuple[str, tuple[int, ...], bool]:
    """Return a text without its marks, the evidence numbers in them, and whether one says `own`."""
    marks = " ".join(_MARK.findall(text))
    numbers = tuple(dict.fromkeys(int(n) for n in regex.findall(r"\d{1,4}", marks)))
    return _MARK.sub(" ", text), numbers, bool(_OWN.search(marks))


def _name(text: str) -> str:
    """Return a name without quotation marks, Markdown and closing punctuation."""
    bare = " ".join(text.split())
    before = None
    while bare != before:
        before = bare
        bare = bare.strip(" \"'`*“”‘’「」:：,，;；").removesuffix("。").strip()
        if bare.startswith("(") and bare.endswith(")") and bare.count("(") == 1:
            bare = bare[1:-1]
    return bare[:_LONGEST_NAME]


def _edge(head: str, relation: str, tail: str, marks: tuple[int, ...] = ()) -> list[RawEdge]:
    head, first, own_head = _marks(head)
    relation, second, own_relation = _marks(relation)
    tail, third, own_tail = _marks(tail)
    names = _name(head), _name(relation), _name(tail)
    if not names[0] or not names[2]:
        return []
    cited = tuple(dict.fromkeys((*marks, *first, *second, *third)))
    return [RawEdge(*names, cited, own_head or own_relation or own_tail)]


# --- Chains ---


def _chain(
    text: str,
    marks: tuple[int, ...],
    entities: AbstractSet[str],
    relations: AbstractSet[str],
    ids: dict[str, str],
) -> list[RawEdge]:
    """Read `A -> r -> B`, `A -[r]-> B`, `A -->|r| B` and longer ones, in either direction."""
    if ids:
        text = _NODE.sub(lambda node: node[1], text)
    text = _split_labels(text)
    parts = [ids.get(part.strip(" ;"), part) for part in _ARROW.split(text)]
    back = [bool(_BACK.search(arrow)) for arrow in _ARROW.findall(text)]
    names = [same(_name(_marks(part)[0])) for part in parts]
    if not all(names) or len(parts) < 2:
        kept = [i for i, name in enumerate(names) if name]
        if len(kept) < 2 or kept != list(range(kept[0], kept[-1] + 1)):
            return []
        parts, names, back = (
            parts[kept[0] : kept[-1] + 1],
            names[kept[0] : kept[-1] + 1],
            back[kept[0] : kept[-1]],
        )
    middle_names = names[1::2]
    middle_relations = [same_relation(_name(_marks(part)[0])) for part in parts[1::2]]
    alternates = (
        len(parts) % 2 == 1
        and len(parts) >= 3
        and (
            any(n in relations for n in middle_relations)
            or not any(n in entities for n in middle_names)
        )
    )
    edges: list[RawEdge] = []
    step = 2 if alternates else 1
    for at in range(0, len(parts) - step, step):
        ends = parts[at], parts[at + step]
        relation = parts[at + 1] if alternates else ""
        if back[at]:
            ends = ends[::-1]
        edges += _edge(ends[0], relation, ends[1], marks)
    return edges


def _mermaid_ids(lines: list[str]) -> dict[str, str]:
    """Return the labels of a Mermaid chart's nodes, by their ids."""
    return {node[1]: node[2].strip() for line in lines for node in _NODE.finditer(line)}


# --- Trees ---


def _node(text: str, relations: AbstractSet[str], ids: dict[str, str]) -> _Node:
    """Read a line of a tree: a name, `relation -> name` or `relation: name`."""
    bare, marks, own = _marks(text)
    parts = [part for part in _ARROW.split(bare) if part.strip()]
    if len(parts) >= 2:
        return _Node(_name(parts[-1]), marks, own, relation=_name(parts[-2]))
    first, colon, rest = bare.replace("：", ":").partition(":")
    if colon and rest.strip() and same_relation(first) in relations:
        return _Node(_name(rest), marks, own, relation=_name(first))
    if ids:  # a Mermaid mind map, whose nodes are indented
        bare = _NODE.sub(lambda node: node[2], bare)
    return _Node(_name(bare), marks, own)


def _tree_edges(
    lines: list[tuple[int, _Node]],
    entities: AbstractSet[str],
    relations: AbstractSet[str],
) -> list[RawEdge]:
    roots: list[_Node] = []
    above: list[tuple[int, _Node]] = []
    for place, node in lines:
        if not node.text:
            continue
        while above and above[-1][0] >= place:
            above.pop()
        if above:
            node.depth = above[-1][1].depth + 1
            above[-1][1].children.append(node)
        else:
            roots.append(node)
        above.append((place, node))
    edges: list[RawEdge] = []
    for root in roots:
        edges += _walk(root, _alternates(root, entities, relations), entities, relations)
    return edges


def _nodes_below(node: _Node) -> list[_Node]:
    nodes, left = [], [node]
    while left:
        here = left.pop()
        nodes.append(here)
        left += here.children
    return nodes


def _alternates(root: _Node, entities: AbstractSet[str], relations: AbstractSet[str]) -> bool:
    """Return whether entities and relations alternate from the root, as in the paper's trees."""
    nodes = _nodes_below(root)
    if any(node.relation for node in nodes):
        return False
    if any(_is_relation(node, entities, relations) for node in nodes):
        return True
    odd = [node for node in nodes if node.depth % 2]
    return bool(odd) and all(n.children and same(n.text) not in entities for n in odd)


def _is_relation(node: _Node, entities: AbstractSet[str], relations: AbstractSet[str]) -> bool:
    return same_relation(node.text) in relations and same(node.text) not in entities


def _walk(
    root: _Node, alternates: bool, entities: AbstractSet[str], relations: AbstractSet[str]
) -> list[RawEdge]:
    edges: list[RawEdge] = []
    # (node, the entity above, the relation node between them)
    left: list[tuple[_Node, _Node | None, _Node | None]] = [(root, None, None)]
    while left:
        node, entity, between = left.pop(0)
        name = same(node.text)
        is_relation = (
            alternates
            and entity is not None
            and between is None
            and name not in entities
            and (bool(node.children) or same_relation(node.text) in relations)
        )
        if is_relation:
            left += [(child, entity, node) for child in node.children]
            continue
        if entity is not None:
            relation = between.text if between else node.relation
            marks = (*(between.marks if between else ()), *node.marks)
            own = node.own or (between is not None and between.own)
            if entity.text and node.text:
                cited = tuple(dict.fromkeys(marks))
                edges.append(RawEdge(entity.text, relation, node.text, cited, own))
        left += [(child, node, None) for child in node.children]
    return edges
