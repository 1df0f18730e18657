"""Draw a mind map: as lines for a terminal, and as Mermaid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.forest import Branch, forest
from kgp_neo4j.mindmap.answer.same_names import same
from kgp_neo4j.show.html import mermaid_label
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.mindmap import MapEdge

__all__ = ["MARKS", "mermaid", "tree_lines"]

#: The mark after an edge that the graph does not support.
MARKS = {
    "grounded": "",
    "question": "(said in the question)",
    "model": "(the model's own)",
    "contradicts": "(contradicts the graph)",
}
_CLASSES = {
    "question": "stroke-dasharray:2 2",
    "model": "stroke:#b26a00,stroke-dasharray:6 4",
    "contradicts": "stroke:#c62828,stroke-width:3px",
}


def tree_lines(
    edges: Sequence[MapEdge],
    roots: Iterable[str] = (),
    style: Callable[[str, str], str] = lambda text, kind: text,
) -> list[str]:
    """Return a mind map as the lines of a tree.

    `style(text, kind)` may colour; `kind` is `root`, `relation`, `again` or an edge's status.
    """
    made: list[str] = []
    for root in forest(edges, roots):
        made.append(style(plain(root.name), "root"))
        _below(root, "", made, style)
    return made


def _below(branch: Branch, indent: str, made: list[str], style: Callable[[str, str], str]) -> None:
    # Not recursive: the depth can be that of a model's long chain, which must not exhaust the
    # stack.
    left = [(child, indent, child is branch.children[-1]) for child in reversed(branch.children)]
    while left:
        child, before, last = left.pop()
        edge = child.edge
        if edge is None:
            continue
        relation = style(readable(plain(edge.relation)) or "·", "relation")
        arrow = f"◀─ {relation} ─" if child.inward else f"─ {relation} ─▶"
        name = style(plain(child.name), edge.status)
        marks = " ".join(
            style(mark, kind)
            for mark, kind in ((MARKS[edge.status], edge.status), ("↑" * child.again, "again"))
            if mark
        )
        made.append(f"{before}{'└' if last else '├'}{arrow} {name} {marks}".rstrip())
        deeper = before + ("   " if last else "│  ")
        left += [(below, deeper, below is child.children[-1]) for below in reversed(child.children)]


def mermaid(edges: Sequence[MapEdge]) -> str:
    """Return a mind map as a Mermaid flowchart, with one style for each status.

    Names are quoted, with the markup of Mermaid and HTML escaped.
    """
    ids: dict[str, str] = {}
    lines = ["flowchart LR"]
    styled: dict[str, list[int]] = {}
    for number, edge in enumerate(edges):
        ends = []
        for name in (edge.head, edge.tail):
            key = same(name) or name
            if key not in ids:
                ids[key] = f"n{len(ids)}"
                lines.append(f'  {ids[key]}["{mermaid_label(name)}"]')
            ends.append(ids[key])
        words = " ".join(x for x in (readable(edge.relation), MARKS[edge.status]) if x)
        label = f'|"{mermaid_label(words)}"|' if words else ""
        lines.append(f"  {ends[0]} -->{label} {ends[1]}")
        styled.setdefault(edge.status, []).append(number)
    for status, css in _CLASSES.items():
        if status in styled:
            lines.append(f"  linkStyle {','.join(map(str, styled[status]))} {css}")
    return "\n".join(lines) + "\n"
