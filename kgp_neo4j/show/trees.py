"""Reasoning paths and mind maps as trees, which `templates/tree.html` draws on every page."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import ClassVar

from kgp_neo4j.corpus.answer.traces import to_answer, visits
from kgp_neo4j.mindmap.aggregate import readable, same
from kgp_neo4j.show.view import edge_note
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
