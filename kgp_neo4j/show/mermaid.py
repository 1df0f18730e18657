"""Reasoning paths and mind maps as Mermaid flowcharts, for Markdown, their labels escaped."""

from collections.abc import Sequence

import regex

from kgp_neo4j.corpus.answer.traces import chosen, visits
from kgp_neo4j.mindmap.aggregate import readable, same
from kgp_neo4j.show.view import STATUS_MARKS
from kgp_neo4j.text.safe import cut, plain
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.mindmap import MapEdge, MindMap

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
