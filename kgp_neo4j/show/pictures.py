"""Reasoning paths and mind maps as SVG pictures: trees from left to right, laid out here."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from kgp_neo4j.corpus.answer.visits import GIVEN, SEED, chosen, visits
from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.forest import Branch, forest
from kgp_neo4j.show.marks import STATUS_MARKS, rests_on
from kgp_neo4j.show.templates import render
from kgp_neo4j.text.safe import cut, plain
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.mindmap import MindMap

#: The colour of each kind of edge between passages; others are grey.
_EDGE_COLOURS = {
    SEED: "#37474f",
    "SHARES_ENTITY": "#6a1b9a",
    "SHARES_KEYWORD": "#1565c0",
    "MENTIONS": "#00838f",
    "SIMILAR_ST": "#2e7d32",
    "SIMILAR_MDR": "#558b2f",
    "NEXT": "#b26a00",
}
#: The colour of an edge of a mind map by its status.
STATUS_COLOURS = {
    "grounded": "#2e7d32",
    "question": "#1565c0",
    "model": "#b26a00",
    "contradicts": "#c62828",
}
_DASHES = {"question": "2 3", "model": "6 4"}
#: Visits that are drawn at most, so that the picture stays readable.
_MOST_VISITS = 24
#: Characters of a name and of what stands on an edge.
_NAME, _ON_EDGE = 34, 26
#: Pixels: between the middles of two rows, between a box and what follows, above the first row,
#: and what an edge needs besides its words.
_ROW, _GAP, _TOP, _BEND = 46, 24, 44, 40


@dataclass(slots=True, eq=False)
class _Box:
    """A node of a tree with the edge that leads to it; `x` is its left side, `y` its middle."""

    text: str
    note: str
    parent: "_Box | None" = None
    #: What stands above and below the edge, what the edge tells, and how it is drawn.
    relation: str = ""
    reason: str = ""
    tells: str = ""
    colour: str = "#757575"
    dashes: str = ""
    inward: bool = False
    #: The second line of the box, and how the box is drawn.
    score: str = ""
    fill: str = "#fff"
    border: str = "#90a4ae"
    marked: bool = False
    again: bool = False
    children: list["_Box"] = field(default_factory=list)
    depth: int = 0
    x: float = 0.0
    y: float = 0.0
    path: str = ""
    arrow: str = ""

    @property
    def tall(self) -> int:
        """The height in pixels."""
        return 36 if self.score else 28

    @property
    def wide(self) -> float:
        """The width in pixels."""
        return round(max(_width(self.text), 0.9 * _width(self.score)) + 16, 1)

    @property
    def on_edge(self) -> float:
        """The pixels that the edge to this box needs from side to side."""
        words = 0.9 * max(_width(self.relation), _width(self.reason))
        return words + _BEND if words else 0.0


def _width(text: str) -> float:
    """Return about the width of a text in pixels at 12 px; Chinese characters are twice as wide."""
    return 6.9 * sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def draw_paths(answer: Answer, most: int = _MOST_VISITS) -> Markup:
    """Return an SVG of `most` visits, supporting paths first, then the best; empty for none."""
    supporting = rests_on(answer)
    titles = {passage.id: passage.name for passage in answer.passages}
    ranks = {passage.id: rank for rank, passage in enumerate(answer.passages, 1)}
    boxes: dict[int, _Box] = {}
    shown, left = chosen(visits(answer), most, supporting)
    for visit in shown:
        step = visit.step
        title = plain(titles.get(step.passage, "(no longer in the corpus)"))
        marked = step.passage in supporting
        number = f"[{ranks[step.passage]}] " if step.passage in ranks else ""
        boxes[visit.order] = _Box(
            text=cut(title, _NAME),
            note=title,
            parent=None if visit.before is None else boxes[visit.before],
            relation=cut({SEED: "seed", GIVEN: "given"}.get(step.edge, step.edge), _ON_EDGE),
            reason=cut(step.reason, _ON_EDGE),
            tells=plain(f"{step.edge} {step.reason}"),
            colour=_EDGE_COLOURS.get(step.edge, "#757575"),
            score=f"{number}score {step.score:.2f}",
            fill="#fff9c4" if marked else "#fff",
            border="#b26a00" if marked else "#90a4ae",
            marked=marked,
        )
    if not boxes:
        return Markup("")
    missing = f"… and {left} more passages" if left else ""
    return _draw(list(boxes.values()), "Reasoning paths", answer.question, missing)


def draw_mind_map(answer: MindMap) -> Markup:
    """Return a mind map as an SVG picture, its trees from the question's entities on."""
    roots = [entity.name for entity in answer.reasoning.entities if entity.id]
    boxes: list[_Box] = []
    left: list[tuple[Branch, _Box | None]] = [
        (root, None) for root in reversed(forest(answer.edges, roots))
    ]
    while left:
        branch, parent = left.pop()
        edge = branch.edge
        box = _Box(text=cut(branch.name, _NAME), note=plain(branch.name), parent=parent)
        if edge is None:
            box.fill, box.border = "#eceff1", "#37474f"
        else:
            note = edge.note or STATUS_MARKS[edge.status] or "grounded"
            ids = f" [{', '.join(edge.triples)}]" if edge.triples else ""
            relation = readable(edge.relation)
            box.tells = plain(f"{edge.head} – {relation} → {edge.tail}: {note}{ids}")
            box.relation = cut(relation, _ON_EDGE)
            box.colour = box.border = STATUS_COLOURS[edge.status]
            box.dashes = _DASHES.get(edge.status, "")
            box.inward, box.again = branch.inward, branch.again
        boxes.append(box)
        left += [(child, box) for child in reversed(branch.children)]
    return _draw(boxes, "Mind map")


def _draw(boxes: Sequence[_Box], title: str, question: str = "", missing: str = "") -> Markup:
    """Return the picture of trees whose boxes come each after its parent.

    With a question, edges lead from it to the roots, and each column has a heading.
    """
    for box in boxes:
        if box.parent is not None:
            box.depth = box.parent.depth + 1
            box.parent.children.append(box)
    columns = _place(boxes, 30.0 if question else 10.0, with_roots=bool(question))
    roots = [box.y for box in boxes if box.parent is None]
    middle = (min(roots, default=0.0) + max(roots, default=0.0)) / 2
    for box in boxes:
        if box.parent is not None:
            _join(box, box.parent.x + box.parent.wide, columns[box.depth - 1][1], box.parent.y)
        elif question:
            _join(box, 30.0, 40.0, middle)
    below = max((box.y for box in boxes), default=0.0) + 24
    heads = [("Seeds" if not hop else f"Hop {hop}", at) for hop, (at, _) in enumerate(columns)]
    picture = render(
        "picture.svg",
        title=title,
        boxes=boxes,
        width=round(columns[-1][1] + 20) if columns else 20,
        height=round(below + (20 if missing else 0)),
        question=plain(question),
        middle=round(middle, 1),
        heads=heads if question else [],
        missing=missing,
    )
    return Markup(picture)


def _place(boxes: Sequence[_Box], start: float, *, with_roots: bool) -> list[tuple[float, float]]:
    """Place boxes, leaves in rows and parents between their children; return columns' sides."""
    order: list[_Box] = []
    left = [box for box in reversed(boxes) if box.parent is None]
    rows = 0
    # Not recursive: a chain of many hops must not exhaust the stack.
    while left:
        box = left.pop()
        order.append(box)
        left += reversed(box.children)
        if not box.children:
            box.y = _TOP + _ROW * rows
            rows += 1
    for box in reversed(order):
        if box.children:
            places = [child.y for child in box.children]
            box.y = (min(places) + max(places)) / 2
    columns: list[tuple[float, float]] = []
    for depth in range(max((box.depth for box in boxes), default=-1) + 1):
        column = [box for box in boxes if box.depth == depth]
        if depth or with_roots:
            start += max(box.on_edge for box in column) + _GAP
        for box in column:
            box.x = round(start, 1)
        columns.append((round(start, 1), start + max(box.wide for box in column)))
        start = columns[-1][1]
    return columns


def _join(box: _Box, x: float, corner: float, y: float) -> None:
    """Draw the edge to a box from the point x, y: level to the corner, in a bend, level again."""
    end = corner + 20
    box.path = (
        f"M{x:.1f} {y:.1f}H{corner:.1f}C{corner + 14:.1f} {y:.1f} {corner + 4:.1f} "
        f"{box.y:.1f} {end:.1f} {box.y:.1f}H{box.x:.1f}"
    )
    # The arrow's head: towards the box, or from it.
    at, back = (end + 1, 6) if box.inward else (box.x - 1, -6)
    upper, lower = (f"{at + back:.1f} {box.y + side:.1f}" for side in (-4, 4))
    box.arrow = f"M{upper}L{at:.1f} {box.y:.1f}L{lower}"
