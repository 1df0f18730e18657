"""Reasoning paths and mind maps, as trees (`templates/tree.html`) and as Mermaid flowcharts."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import regex

from kgp_neo4j.corpus.answer.traces import chosen, to_answer, visits
from kgp_neo4j.mindmap.link.name_forms import readable, same
from kgp_neo4j.show.view import STATUS_MARKS, edge_note
from kgp_neo4j.text.safe import cut, plain
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.mindmap import MapEdge, MindMap

#: Passages that are shown at first, with what led to them, where an answer rests on fewer.
_FIRST = 4


@dataclass(slots=True, eq=False)
class TreeNode:
    """A passage or an entity, and what led to it.

    `why` is the edge in words, `number` the place of the passage among those found. `kinds` say how
    it is drawn: `question`, `way` (to what the answer rests on), `cited`, `answer`; of a mind map
    `asked`, the status of the edge, `path` or `neighbour` (the evidence it comes from), `again`
    (drawn elsewhere). `more` are children that are folded into a count at first.
    """

    title: str
    why: str = ""
    note: str = ""
    kinds: tuple[str, ...] = ()
    number: int | None = None
    passage: str = ""
    children: list["TreeNode"] = field(default_factory=list)
    more: list["TreeNode"] = field(default_factory=list)
    DERIVED: ClassVar = ("hidden",)

    @property
    def hidden(self) -> int:
        """How many nodes are folded below this one."""
        return sum(1 + _below(each) for each in self.more)


def _below(node: TreeNode) -> int:
    return sum(1 + _below(each) for each in (*node.children, *node.more))


def path_tree(answer: Answer) -> TreeNode | None:
    """Return the reasoning paths of an answer from its question on; None without passages."""
    supporting = answer.rests_on
    passages = {passage.id: (n, passage) for n, passage in enumerate(answer.passages, 1)}
    all_visits = visits(answer)
    ranked = [visit for visit in all_visits if visit.rank is not None]
    ends = sorted(ranked, key=lambda visit: (visit.step.passage not in supporting, visit.rank))
    cited = [visit for visit in ends if visit.step.passage in supporting]
    ways = to_answer(answer, all_visits)
    shown = {order for visit in ends[: max(_FIRST, len(cited))] for order in visit.path}
    root = TreeNode(answer.question, kinds=("question",))
    nodes: dict[int | None, TreeNode] = {None: root}
    for visit in all_visits:
        step = visit.step
        number, passage = passages.get(step.passage, (None, None))
        title = passage.cited if passage else "A passage on the way"
        page = f"page {passage.page}" if passage and passage.page is not None else ""
        kinds = ("way",) if visit.order in ways else ()
        if step.passage in supporting and visit.rank:
            kinds = (*kinds, "cited")
        node = TreeNode(title, step.why, page, kinds, number, step.passage)
        nodes[visit.order] = node
        before = nodes[visit.before]
        folded = visit.order not in shown and (visit.before is None or visit.before in shown)
        (before.more if folded else before.children).append(node)
    if cited and answer.said and len(answer.said) <= 80:
        leaf = TreeNode(answer.said, "says", kinds=("way", "answer"))
        nodes[cited[0].order].children.insert(0, leaf)
    for node in nodes.values():
        node.children.sort(key=lambda child: "way" not in child.kinds)
    return root if answer.passages else None


def map_tree(mind_map: MindMap) -> TreeNode | None:
    """Return a mind map from its question on, over the entities that it names; None if empty."""
    reasoning = mind_map.reasoning
    linked = {e.name: e for e in reasoning.entities if e.id and e.status == "present"}
    types = {entity.name: entity.type for entity in linked.values()}
    for triple in reasoning.triples:
        types |= {triple.head: triple.head_type, triple.tail: triple.tail_type}
    graphs = sorted(reasoning.evidence, key=lambda graph: graph.kind == "path")
    evidence = {triple.id: graph.kind for graph in graphs for triple in graph.triples}
    names: dict[str, str] = {}
    edges_of: dict[str, list[MapEdge]] = defaultdict(list)
    for edge in mind_map.edges:
        for name in (edge.head, edge.tail):
            names.setdefault(same(name), name)
            edges_of[same(name)].append(edge)
    notes = {key: readable(types.get(name, "")) for key, name in names.items()}
    asked = [key for key in dict.fromkeys(map(same, linked)) if key in names]
    tails = {same(edge.tail) for edge in mind_map.edges}
    root = TreeNode(mind_map.question, kinds=("question",))
    seen: set[str] = set()
    drawn: set[frozenset[str] | MapEdge] = set()
    # From the question's entities on, then from those that no edge leads to, then from the rest.
    for starts in (asked, *([key] for key in sorted(names, key=lambda key: key in tails))):
        #: Entities with the node that their edges are drawn below, and its depth.
        queue: list[tuple[str, TreeNode, int]] = []
        for key in starts:
            if key not in seen:
                entity = linked.get(names[key])
                node = TreeNode(names[key], note=notes[key], kinds=("asked",) if entity else ())
                node.why = f"“{entity.surface}”" if entity and entity.surface != entity.name else ""
                queue.append((key, node, 1))
        seen.update(starts)
        root.children += [node for _, node, _ in queue]
        for key, above, depth in queue:
            for edge in edges_of[key]:
                inward = same(edge.tail) == key
                other = same(edge.head if inward else edge.tail)
                pair = frozenset((key, other))
                if edge in drawn or (pair in drawn and edge.status == "grounded"):
                    continue
                drawn.update((pair, edge))
                # A triple on a path is often beside another entity, too.
                how = sorted({evidence[each] for each in edge.triples if each in evidence})[-1:]
                again = ["again"] if other in seen else []
                kinds = (edge.status, *how, *again)
                relation = readable(edge.relation)
                way = f"← {relation}" if inward else f"{relation} →"
                why = f"{way} {edge_note(edge)}".rstrip()
                node = TreeNode(names[other], why, notes[other], kinds)
                above.children.append(node)
                if not again:
                    seen.add(other)
                    # What a long chain leads to stands beside its last entity.
                    queue.append((other, node if depth < 40 else above, depth + 1))
    root.children = [node for node in root.children if node.children]
    return root if root.children else None


#: Visits that are drawn at most, and characters of each kind of label.
_MOST, _TITLE, _QUESTION, _ANSWER, _REASON = 30, 60, 120, 200, 60
_ITEM = regex.compile(r"\d*[-+*.)](?=\s|$)")
_STYLES = {
    "question": "stroke-dasharray:2 2",
    "model": "stroke:#b26a00,stroke-dasharray:6 4",
    "contradicts": "stroke:#c62828,stroke-width:3px",
}


def mermaid_of(answer: Answer | MindMap) -> str:
    """Return an answer of either kind as a Mermaid flowchart."""
    return mind_map_mermaid(answer.edges) if isinstance(answer, MindMap) else paths_mermaid(answer)


def paths_mermaid(answer: Answer) -> str:
    """Return an answer as a Mermaid flowchart of its best 30 visits; a comment counts others."""
    titles = {passage.id: passage.name for passage in answer.passages}
    ranks = {passage.id: rank for rank, passage in enumerate(answer.passages, 1)}
    marked = answer.rests_on
    shown, left = chosen(visits(answer), _MOST, marked)
    lines = ["flowchart LR", f'  q(["{_label(answer.question, _QUESTION)}"])']
    for visit in shown:
        step = visit.step
        title = cut(titles.get(step.passage, "(no longer in the corpus)"), _TITLE)
        rank = ranks.get(step.passage)
        name = f"[{rank}] {title}" if rank else title
        kind = ":::marked" if step.passage in marked else ""
        lines.append(f'  n{visit.order}["{_label(f"{name} ({step.score:.2f})")}"]{kind}')
    for visit in shown:
        step = visit.step
        before = f"n{visit.before}" if visit.before else "q"
        lines.append(f'  {before} -->|"{_label(step.why, _REASON)}"| n{visit.order}')
    if answer.text:
        lines.append(f'  a[/"{_label(answer.summary, _ANSWER)}"/]:::answer')
        ends = [visit.order for visit in shown if visit.step.passage in marked and visit.rank]
        lines += [f"  n{order} -.-> a" for order in ends] or ["  q -.-> a"]
        lines.append("  classDef answer fill:#e8f5e9,stroke:#2e7d32")
    if marked:
        lines.append("  classDef marked fill:#fff59d,stroke:#b26a00")
    if left:
        lines.append(f"  %% {left} further passages are not drawn")
    return "\n".join(lines) + "\n"


def mind_map_mermaid(edges: Sequence[MapEdge]) -> str:
    """Return a mind map as a Mermaid flowchart, with one style for each status."""
    ids: dict[str, str] = {}
    lines = ["flowchart LR"]
    styled: dict[str, list[int]] = {}
    for number, edge in enumerate(edges):
        ends = []
        for name in (edge.head, edge.tail):
            key = same(name) or name
            if key not in ids:
                ids[key] = f"n{len(ids)}"
                lines.append(f'  {ids[key]}["{_label(name)}"]')
            ends.append(ids[key])
        words = f"{readable(edge.relation)} {STATUS_MARKS[edge.status]}".strip()
        label = f'|"{_label(words)}"|' if words else ""
        lines.append(f"  {ends[0]} -->{label} {ends[1]}")
        styled.setdefault(edge.status, []).append(number)
    for status, css in _STYLES.items():
        if status in styled:
            lines.append(f"  linkStyle {','.join(map(str, styled[status]))} {css}")
    return "\n".join(lines) + "\n"


def _label(text: str, length: int | None = None) -> str:
    """Escape a text, and what would begin a list, for a quoted label of Mermaid (`#code;`)."""
    text = plain(text) if length is None else cut(text, length)
    item = _ITEM.match(text)
    first = item.end() if item else 0
    label = "".join(
        c if c.isalnum() or (at >= first and c in " .,-–+%/':()（），。、？！…") else f"#{ord(c)};"
        for at, c in enumerate(text)
    )
    return label or " "
