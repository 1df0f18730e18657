"""A mind map as a picture: SVG laid out here, and a page around it that needs no network.

Every text is escaped, there is no script, and the page's policy forbids it to load anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.forest import Branch, forest
from kgp_neo4j.show.html import FONT, html_page, width
from kgp_neo4j.show.mindmap_lines import MARKS
from kgp_neo4j.text.safe import cut, plain
from kgp_neo4j.types.mindmap import MapEdge, MindMap

__all__ = ["page", "svg"]

_COLOURS = {
    "grounded": "#2e7d32",
    "question": "#1565c0",
    "model": "#b26a00",
    "contradicts": "#c62828",
}
_DASHES = {"question": ' stroke-dasharray="2 3"', "model": ' stroke-dasharray="6 4"'}
_ROW, _BOX, _GAP, _EDGE = 40, 28, 24, 40
_WIDEST = 34
_STYLE = "".join(f".{status}{{color:{colour}}}" for status, colour in _COLOURS.items())


@dataclass(slots=True)
class _Placed:
    branch: Branch
    parent: _Placed | None
    depth: int
    y: float = 0.0


def svg(edges: Sequence[MapEdge], roots: Iterable[str] = ()) -> str:
    """Return a mind map as an SVG picture, its trees from left to right; its texts stay text."""
    placed = _placed(forest(edges, roots))
    depth = max((p.depth for p in placed), default=0)
    widths = [0.0] * (depth + 1)
    labels = [0.0] * (depth + 1)
    for p in placed:
        widths[p.depth] = max(widths[p.depth], width(cut(p.branch.name, _WIDEST)) + _GAP)
        if p.branch.edge:
            labels[p.depth] = max(labels[p.depth], width(_label(p.branch)) + _EDGE)
    lefts = [0.0] * (depth + 1)
    x = 10.0
    for at in range(depth + 1):
        x += labels[at]
        lefts[at] = x
        x += widths[at]
    height = max((p.y for p in placed), default=0.0) + _ROW
    body = [_line(p, lefts, widths) for p in placed if p.parent]
    body += [_box(p, lefts) for p in placed]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x + 10:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {x + 10:.0f} {height:.0f}" font-family="system-ui,sans-serif" '
        f'font-size="{FONT}" role="img"><title>Mind map</title>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(body)}</svg>\n'
    )


def _placed(roots: Sequence[Branch]) -> list[_Placed]:
    """Return all branches with their rows: leaves in rows, each parent in the middle of its
    children.
    """
    made: list[_Placed] = []
    left: list[_Placed] = [_Placed(root, None, 0) for root in reversed(roots)]
    row = 0
    while left:
        here = left.pop()
        made.append(here)
        if not here.branch.children:
            here.y = _ROW * (row + 0.75)
            row += 1
        left += [_Placed(c, here, here.depth + 1) for c in reversed(here.branch.children)]
    below: dict[int, list[float]] = {}
    for here in reversed(made):
        if own := below.get(id(here)):
            here.y = (min(own) + max(own)) / 2
        if here.parent:
            below.setdefault(id(here.parent), []).append(here.y)
    return made


def _label(branch: Branch) -> str:
    return cut(readable(branch.edge.relation), _WIDEST) if branch.edge else ""


def _line(p: _Placed, lefts: Sequence[float], widths: Sequence[float]) -> str:
    edge, parent = p.branch.edge, p.parent
    if edge is None or parent is None:
        return ""
    colour = _COLOURS[edge.status]
    x0 = lefts[parent.depth] + width(cut(parent.branch.name, _WIDEST)) + _GAP - 8
    corner = lefts[parent.depth] + widths[parent.depth] - 4
    x1 = lefts[p.depth]
    path = (
        f"M{x0:.1f} {parent.y:.1f}H{corner:.1f}C{corner + 14:.1f} {parent.y:.1f} {corner + 4:.1f} "
    )
    path += f"{p.y:.1f} {corner + 20:.1f} {p.y:.1f}H{x1:.1f}"
    # The arrow's head: towards the child, or from it.
    at, to = (corner + 21, 6) if p.branch.inward else (x1 - 1, -6)
    head = f"M{at + to:.1f} {p.y - 4:.1f}L{at:.1f} {p.y:.1f}L{at + to:.1f} {p.y + 4:.1f}"
    note = edge.note or MARKS[edge.status] or "grounded"
    said = f"{edge.head} – {readable(edge.relation)} → {edge.tail}: {note}"
    ids = f" [{', '.join(edge.triples)}]" if edge.triples else ""
    return (
        f'<g fill="none" stroke="{colour}" stroke-width="1.4"><title>{escape(plain(said + ids))}'
        f'</title><path d="{path}"{_DASHES.get(edge.status, "")}/><path d="{head}"/></g>'
        f'<text x="{x1 - 10:.1f}" y="{p.y - 4:.1f}" fill="{colour}" font-size="{FONT - 2}" '
        f'text-anchor="end">{escape(_label(p.branch))}</text>'
    )


def _box(p: _Placed, lefts: Sequence[float]) -> str:
    edge = p.branch.edge
    colour = _COLOURS[edge.status] if edge else "#37474f"
    fill = "#eceff1" if edge is None else "#ffffff"
    text = cut(p.branch.name, _WIDEST)
    x, wide = lefts[p.depth], width(text) + _GAP - 8
    dash = ' stroke-dasharray="3 3"' if p.branch.again else ""
    return (
        f'<g><title>{escape(plain(p.branch.name))}</title><rect x="{x:.1f}" '
        f'y="{p.y - _BOX / 2:.1f}" width="{wide:.1f}" height="{_BOX}" rx="6" fill="{fill}" '
        f'stroke="{colour}"{dash}/><text x="{x + 8:.1f}" y="{p.y + 4.5:.1f}" fill="#1a1a1a">'
        f"{escape(text)}</text></g>"
    )


def page(answer: MindMap) -> str:
    """Return an answer as one HTML page: question, answer, picture, and the evidence in words."""
    roots = [entity.name for entity in answer.reasoning.entities if entity.id]
    notices = "".join(f'<p class="notice">{escape(n)}</p>' for n in answer.notices)
    flagged = answer.reply.edges if answer.reply and answer.reply.problem else ()
    rejected = f"<h2>What the model drew instead</h2>{_table(flagged)}" if flagged else ""
    legend = " · ".join(
        f'<span class="{status}">{escape(text)}</span>'
        for status, text in (
            ("grounded", "the graph says it"),
            ("question", "the question says it"),
            ("model", "the model's own"),
            ("contradicts", "contradicts the graph"),
        )
    )
    body = (
        f"<h1>{escape(answer.question)}</h1>{notices}"
        f"<h2>Answer</h2><pre>{escape(answer.text)}</pre>"
        f'<h2>Mind map</h2><div class="map">{svg(answer.edges, roots)}</div><p>{legend}</p>'
        f"{rejected}<h2>Edges</h2>{_table(answer.edges)}"
    )
    return html_page(answer.question, body, _STYLE)


def _table(edges: Sequence[MapEdge]) -> str:
    rows = "".join(
        f'<tr class="{edge.status}"><td>{escape(edge.head)}</td>'
        f"<td>{escape(readable(edge.relation))}</td><td>{escape(edge.tail)}</td><td>{edge.status}</td><td>{escape(edge.note)}</td></tr>"
        for edge in edges
    )
    head = "<tr><th>from</th><th>relation</th><th>to</th><th>status</th><th></th></tr>"
    return f"<table>{head}{rows}</table>"
