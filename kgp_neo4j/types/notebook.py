"""HTML for notebooks: answers and retrievals in a few lines, all escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgp_neo4j.types.corpus import Answer, Passage, ReasoningPath, Retrieval

__all__ = ["answer_html", "retrieval_html"]

_SHOWN = 10
_EXCERPT = 400  # characters
_DIM = "color:#777;font-size:90%"


def answer_html(answer: Answer) -> str:
    """Return the answer, its evidence, and the passages with their paths, as HTML."""
    number = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    parts = [f"<p><b>{escape(answer.question)}</b></p>"]
    text = escape(answer.summary)
    if answer.tier != "stated":
        text = f"<i>{text}</i>"
    parts.append(f"<p style='font-size:115%'>{text}</p>")
    if answer.reading is not None and answer.reading.kind != "none":
        sure = f"sure to {answer.reading.confidence:.0%}"
        parts.append(f"<p style='{_DIM}'>{escape(answer.reading.kind)}, {sure}</p>")
    bullets = []
    for statement in answer.statements:
        cited = "".join(f" [{number[p]}]" for p in statement.passages if p in number)
        note = "" if statement.carried else f" ⚠ {escape(statement.note or 'not carried')}"
        bullets.append(f"<li>{escape(statement.text)}{cited}<b>{note}</b></li>")
    parts += ["<ul>", *bullets, "</ul>"] if bullets else []
    parts += _citations(answer)
    parts += [f"<p style='{_DIM}'>{escape(note)}</p>" for note in answer.notes]
    marks: dict[str, list[tuple[int, int]]] = {}
    for span in answer.reading.spans if answer.reading else ():
        marks.setdefault(span.passage, []).append((span.start, span.end))
    for sentence in () if marks else answer.sentences[:1]:
        marks.setdefault(sentence.passage, []).append((sentence.start, sentence.end))
    parts.append(_table(answer.passages, answer.paths, marks))
    end = f"{len(answer.passages)} passages, agent {escape(answer.agent)}, {answer.seconds:.2f} s"
    if answer.browser:
        end += f" · <a href='{escape(answer.browser)}' target='_blank'>open in Neo4j Browser</a>"
    parts.append(f"<p style='{_DIM}'>{end}</p>")
    return f"<div class='kgp-answer'>{''.join(parts)}</div>"


def retrieval_html(retrieval: Retrieval) -> str:
    """Return the passages of a retrieval with their paths, as HTML."""
    end = f"{len(retrieval.passages)} passages, {retrieval.seconds:.2f} s"
    return (
        f"<div class='kgp-retrieval'><p><b>{escape(retrieval.question.text)}</b></p>"
        f"{_table(retrieval.passages, retrieval.paths, {})}<p style='{_DIM}'>{end}</p></div>"
    )


def _citations(answer: Answer) -> list[str]:
    """Return how a question about structure was read, and the cells and pages cited for it."""
    if answer.structural is None:
        return []
    lines = [f"<p style='{_DIM}'>{escape(answer.structural.reading)}</p>"]
    for cell in answer.structural.citations[:_SHOWN]:
        places = [cell.title, f"page {cell.page}" if cell.page else "", cell.table_name]
        places += [cell.row_name, cell.column_name, cell.text]
        lines.append(f"<li>{escape(' · '.join(each for each in places if each))}</li>")
    return [lines[0], "<ul>", *lines[1:], "</ul>"]


def _table(
    passages: Sequence[Passage],
    paths: Iterable[ReasoningPath],
    marks: dict[str, list[tuple[int, int]]],
) -> str:
    if not passages:
        return ""
    titles = {passage.id: passage.heading for passage in passages}
    path_to = {path.last: path for path in paths}
    rows = []
    for n, passage in enumerate(passages[:_SHOWN], 1):
        steps = path_to[passage.id].steps if passage.id in path_to else ()
        way = " → ".join(escape(titles.get(step.passage, "…")) for step in steps)
        why = escape((steps[-1].signals or steps[-1].reason) if steps else "")
        rows.append(
            f"<tr><td>{n}</td><td style='text-align:left'><b>{escape(passage.heading)}</b><br>"
            f"<span style='{_DIM}'>{passage.place}</span></td><td>{passage.score:.2f}</td>"
            f"<td style='text-align:left'>{way}<br><span style='{_DIM}'>{why}</span></td>"
            f"<td style='text-align:left'>{_excerpt(passage, marks.get(passage.id, []))}</td></tr>"
        )
    more = len(passages) - len(rows)
    rest = f"<p style='{_DIM}'>… and {more} more passages</p>" if more > 0 else ""
    head = "".join(f"<th>{name}</th>" for name in ("", "where", "score", "path", "text"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{rest}"


def _excerpt(passage: Passage, spans: Sequence[tuple[int, int]]) -> str:
    """Return the passage's text around the first span, escaped, with the spans marked."""
    text = passage.text
    inside = sorted((s, e) for s, e in spans if 0 <= s < e <= len(text))
    begin = max(inside[0][0] - _EXCERPT // 2, 0) if inside else 0
    end = max(begin + _EXCERPT, inside[0][1] if inside else 0)
    pieces, at = ["… " if begin else ""], begin
    for s, e in inside:
        if s < at or e > end:
            continue
        pieces += [escape(text[at:s]), f"<mark>{escape(text[s:e])}</mark>"]
        at = e
    pieces += [escape(text[at:end]), " …" if end < len(text) else ""]
    return "".join(pieces)
