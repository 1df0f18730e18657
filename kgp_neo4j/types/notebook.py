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


def answer_html(answer: Answer) -> str:
    """Return the answer, its evidence, and the passages with their paths, as HTML."""
    number = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    text = escape(answer.summary)
    lines = [f"<i>{text}</i>" if answer.uncertain or not answer.text else text]
    if answer.reading is not None and answer.reading.kind != "none":
        lines.append(f"{escape(answer.reading.kind)}, sure to {answer.reading.confidence:.0%}")
    for statement in answer.statements:
        cited = "".join(f" [{number[p]}]" for p in statement.passages if p in number)
        note = "" if statement.carried else f" ⚠ {escape(statement.note or 'not carried')}"
        lines.append(f"• {escape(statement.text)}{cited}<b>{note}</b>")
    if answer.structural is not None:
        lines.append(escape(answer.structural.reading))
        for cell in answer.structural.citations[:_SHOWN]:
            places = [cell.title, f"page {cell.page}" if cell.page else "", cell.table_name]
            places += [cell.row_name, cell.column_name, cell.text]
            lines.append(f"• {escape(' · '.join(filter(None, places)))}")
    lines += map(escape, answer.notes)
    marks: dict[str, tuple[int, int]] = {}
    for span in (answer.reading.spans if answer.reading else ()) or answer.sentences[:1]:
        marks[span.passage] = span.start, span.end
    table = _table(answer.passages, answer.paths, marks)
    end = f"{len(answer.passages)} passages, agent {escape(answer.agent)}, {answer.seconds:.2f} s"
    if answer.browser:
        end += f" · <a href='{escape(answer.browser)}' target='_blank'>open in Neo4j Browser</a>"
    return f"<p><b>{escape(answer.question)}</b></p><p>{'<br>'.join(lines)}</p>{table}<p>{end}</p>"


def retrieval_html(retrieval: Retrieval) -> str:
    """Return the passages of a retrieval with their paths, as HTML."""
    table = _table(retrieval.passages, retrieval.paths, {})
    end = f"{len(retrieval.passages)} passages, {retrieval.seconds:.2f} s"
    return f"<p><b>{escape(retrieval.question.text)}</b></p>{table}<p>{end}</p>"


def _table(
    passages: Sequence[Passage],
    paths: Iterable[ReasoningPath],
    marks: dict[str, tuple[int, int]],
) -> str:
    titles = {passage.id: passage.heading for passage in passages}
    steps = {path.last: path.steps for path in paths}
    rows = []
    for n, passage in enumerate(passages[:_SHOWN], 1):
        led = steps.get(passage.id, ())
        way = " → ".join(escape(titles.get(step.passage, "…")) for step in led)
        why = escape((led[-1].signals or led[-1].reason) if led else "")
        cells = (
            f"<b>{escape(passage.heading)}</b><br>{passage.place}",
            f"{passage.score:.2f}",
            f"{way}<br>{why}",
            _excerpt(passage.text, *marks.get(passage.id, (0, 0))),
        )
        rows.append(f"<tr><td>{n}</td><td>{'</td><td>'.join(cells)}</td></tr>")
    more = len(passages) - len(rows)
    rest = f"<p>… and {more} more passages</p>" if more > 0 else ""
    return f"<table>{''.join(rows)}</table>{rest}"


def _excerpt(text: str, start: int, end: int) -> str:
    """Return a passage's text around the place that is marked, escaped."""
    begin = max(start - _EXCERPT // 2, 0)
    last = max(begin + _EXCERPT, end)
    marked = f"<mark>{escape(text[start:end])}</mark>" if start < end else ""
    before, after = escape(text[begin:start]), escape(text[end:last])
    return f"{'… ' if begin else ''}{before}{marked}{after}{' …' if last < len(text) else ''}"
