"""Lays a mind map out as trees: each entity is expanded once, further edges refer to it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgp_neo4j.mindmap.answer.same_names import same
from kgp_neo4j.types.mindmap import MapEdge


@dataclass(slots=True)
class Branch:
    """An entity in a tree and the edge that leads to it; `again` where it is drawn elsewhere."""

    name: str
    edge: MapEdge | None = None
    inward: bool = False
    again: bool = False
    children: list["Branch"] = field(default_factory=list)


def forest(edges: Sequence[MapEdge], roots: Iterable[str] = ()) -> list[Branch]:
    """Return the trees of a mind map from the `roots` on; edges in both directions are one."""
    names: dict[str, str] = {}
    at: dict[str, list[MapEdge]] = defaultdict(list)
    for edge in edges:
        for name in (edge.head, edge.tail):
            names.setdefault(same(name), name)
            at[same(name)].append(edge)
    heads = {same(e.head) for e in edges}
    # Then the entities that no edge leads to, then the rest.
    rest = sorted(names, key=lambda k: k not in heads or any(same(e.tail) == k for e in at[k]))
    seen: set[str] = set()
    drawn: set[frozenset[str] | MapEdge] = set()

    def grow(keys: Sequence[str]) -> list[Branch]:
        trees = [Branch(names[key]) for key in keys]
        seen.update(keys)
        queue = list(zip(keys, trees, strict=True))
        for key, branch in queue:
            for edge in at[key]:
                inward = same(edge.tail) == key
                other = same(edge.head if inward else edge.tail)
                pair = frozenset((key, other))
                if edge in drawn or (pair in drawn and edge.status == "grounded"):
                    continue
                drawn.update((pair, edge))
                child = Branch(names[other], edge, inward, again=other in seen)
                branch.children.append(child)
                if other not in seen:
                    seen.add(other)
                    queue.append((other, child))
        return trees

    trees = grow([key for key in dict.fromkeys(map(same, roots)) if key in names])
    for key in rest:
        if key not in seen:
            trees += grow([key])
    return [branch for branch in trees if branch.children] or trees
