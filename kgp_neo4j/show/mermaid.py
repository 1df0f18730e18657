"""An answer's reasoning paths as a Mermaid flowchart, for Markdown."""

from __future__ import annotations

from kgp_neo4j.corpus.answer.visits import chosen, visits
from kgp_neo4j.show.html import mermaid_label
from kgp_neo4j.show.marks import rests_on
from kgp_neo4j.text.safe import cut
from kgp_neo4j.types.corpus import Answer

__all__ = ["mermaid"]

_MOST = 30
_TITLE, _QUESTION, _ANSWER, _REASON = 60, 120, 200, 40


def mermaid(answer: Answer) -> str:
    """Return an answer as a Mermaid flowchart: question, reasoning paths, and the answer.

    At most 30 visits are drawn, as whole paths, the best first; a comment counts the others. Labels
    are quoted, with the markup of Mermaid and HTML escaped.
    """
    titles = {passage.id: passage.title for passage in answer.passages}
    ranks = {passage.id: rank for rank, passage in enumerate(answer.passages, 1)}
    marked = rests_on(answer)
    made = visits(answer)
    shown = chosen(made, _MOST, marked)
    lines = ["flowchart LR", f'  q(["{_label(answer.question, _QUESTION)}"])']
    for visit in shown:
        step = visit.step
        title = cut(titles.get(step.passage, "(no longer in the corpus)"), _TITLE)
        rank = ranks.get(step.passage)
        said = f"[{rank}] {title}" if rank else title
        kind = ":::marked" if step.passage in marked else ""
        label = mermaid_label(f"{said} ({step.score:.2f})")
        lines.append(f'  n{visit.order}["{label}"]{kind}')
    for visit in shown:
        step = visit.step
        before = f"n{visit.before}" if visit.before else "q"
        said = cut(step.edge.replace("_", " ").lower(), _REASON)
        reason = f": {cut(step.reason, _REASON)}" if step.reason else ""
        lines.append(f'  {before} -->|"{mermaid_label(said + reason)}"| n{visit.order}')
    if answer.text:
        lines.append(f'  a[/"{_label(answer.summary, _ANSWER)}"/]:::answer')
        ends = [visit.order for visit in shown if visit.step.passage in marked and visit.rank]
        lines += [f"  n{order} -.-> a" for order in ends] or ["  q -.-> a"]
        lines.append("  classDef answer fill:#e8f5e9,stroke:#2e7d32")
    if marked:
        lines.append("  classDef marked fill:#fff59d,stroke:#b26a00")
    left = len({visit.step.passage for visit in made} - {visit.step.passage for visit in shown})
    if left:
        lines.append(f"  %% {left} further passages are not drawn")
    return "\n".join(lines) + "\n"


def _label(text: str, length: int) -> str:
    return mermaid_label(cut(text, length)) or " "
