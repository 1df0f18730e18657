"""An answer with its evidence, as one HTML page that needs no network.

Every text is escaped, there is no script, and the page's policy forbids it to load anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from urllib.parse import urlsplit

from kgp_neo4j.corpus.answer.shown_queries import browser_lines, queries_of
from kgp_neo4j.corpus.answer.visits import GIVEN, SEED
from kgp_neo4j.show.html import escaped, html_page
from kgp_neo4j.show.marks import (
    from_structure,
    marked_html,
    marked_passages,
    marked_sentence,
    marks_of,
    rests_on,
)
from kgp_neo4j.show.tree import svg
from kgp_neo4j.text.safe import cut
from kgp_neo4j.types.corpus import Answer, Passage, ReasoningPath
from kgp_neo4j.types.tables import Citation, ShownQuery, StructuralAnswer

__all__ = ["page"]

_STYLE = """
.by{color:#666;font-size:.85rem}.said{font-size:1.15rem;white-space:pre-wrap;overflow-wrap:anywhere}
.not{border-left:4px solid #c62828;padding-left:.6rem}.not small{color:#c62828}
mark{background:#fff3a8;color:inherit}mark.a{background:#ffca28;font-weight:600}
.text{overflow-wrap:anywhere;margin:.2rem 0 1rem}.rows{white-space:pre-wrap}
table{font-size:.88rem;display:block;overflow-x:auto}tr:target,p:target{background:#e3f2fd}
th{border-bottom:1px solid #bbb}
td{border-bottom:1px solid #eee;max-width:24rem;overflow-wrap:break-word}
td:last-child{max-width:50rem;min-width:11rem}td bdi{display:inline-block;min-width:9rem}
bdi{font-weight:600}
code,.cypher{font:.82rem/1.45 ui-monospace,monospace}
.cypher{background:#f6f8fa;padding:.5rem .7rem;border-radius:6px}a{color:#1565c0}
"""
#: Passages whose text is shown, letters of titles and reasons in the table, cells cited.
_TEXTS, _TITLE, _CITATIONS = 8, 90, 30
_CITED = ("document", "page", "table", "row", "column", "text")
_PLACES = ("passage", "characters", "score", "how it was reached")
_LEGEND = '<p class="by">Yellow: what the answer rests on. Scores are those of the agent.</p>'


def page(answer: Answer) -> str:
    """Return an answer as one HTML page with everything needed to check it, and nothing to load.

    The page has the question and the answer (each sentence with its citations, marked where they do
    not support it), the words in their passages, the reasoning paths as a picture, the evidence
    with documents, pages, offsets and scores, the Cypher to run again, and the link into Neo4j
    Browser.
    """
    numbers = {passage.id: number for number, passage in enumerate(answer.passages, 1)}
    picture = svg(answer)
    parts = [
        f'<h1 dir="auto">{escaped(answer.question)}</h1>',
        _answer(answer, numbers),
        _structure(answer.structural) if answer.structural else "",
        _words(answer, numbers),
        f'<h2>Reasoning paths</h2><div class="map">{picture}</div>{_LEGEND}' if picture else "",
        _evidence(answer, numbers),
        _queries(answer.queries or queries_of(answer)),
    ]
    return html_page(answer.question or "Answer", "".join(parts), _STYLE)


def _answer(answer: Answer, numbers: Mapping[str, int]) -> str:
    structural = answer.structural
    if structural and from_structure(answer):
        body = f'<p class="said" dir="auto">{escaped(structural.text)}</p>'
    elif answer.statements:
        body = "".join(
            _statement(s.text, s.passages, s.carried, s.note, numbers) for s in answer.statements
        )
    elif answer.sentences and not answer.stated:
        body = _uncertain(answer, numbers)
    elif answer.text:
        cited = _cited(rests_on(answer), numbers)
        body = f'<p class="said" dir="auto">{escaped(answer.text)}{cited}</p>'
    elif structural:
        body = (
            f'<p class="said" dir="auto">{escaped(structural.text)}</p>' if structural.text else ""
        )
        body += "" if structural.sure else '<p class="notice">No sure answer.</p>'
    else:
        body = f'<p class="notice">{escaped(answer.summary)}.</p>'
    return "".join(
        ("<h2>Answer</h2>", body, *(f'<p class="notice">{escaped(n)}</p>' for n in answer.notes),
         f'<p class="by">{_by(answer)}</p>')
    )  # fmt: skip


def _uncertain(answer: Answer, numbers: Mapping[str, int]) -> str:
    """Return the sentences most relevant to the question, in place of an answer."""
    sure = answer.text and not answer.uncertain
    lead = "" if sure else f"{escaped(answer.summary)}. "
    said = "".join(
        f'<p class="said" dir="auto">{marked_sentence(answer, s)}'
        f"{_cited((s.passage,), numbers)}</p>"
        for s in answer.shown_sentences
    )
    return f'<p class="notice">{lead}What speaks most to the question:</p>{said}'


def _statement(
    text: str, passages: tuple[str, ...], carried: bool, note: str, numbers: Mapping[str, int]
) -> str:
    if carried:
        return f'<p dir="auto">{escaped(text)}{_cited(passages, numbers)}</p>'
    why = escaped(note or "the passages cited do not say so")
    return (
        f'<p class="not" dir="auto">{escaped(text)}{_cited(passages, numbers)} '
        f"<small>not carried: {why}</small></p>"
    )


def _cited(passages: tuple[str, ...], numbers: Mapping[str, int]) -> str:
    made = [
        f' <a href="#e{numbers[p]}">[{numbers[p]}]</a>' if p in numbers else " [?]"
        for p in passages
    ]
    return "".join(made)


def _by(answer: Answer) -> str:
    """Return a line on what made the answer, and its confidence."""
    said: list[str] = []
    if answer.reading is not None:
        reading = answer.reading
        kind = "not in these documents" if reading.kind == "none" else reading.kind
        found = f" {cut(reading.text, _TITLE)!r}" if from_structure(answer) else ""
        said.append(f"reader: {kind}{found}, confidence {reading.confidence:.0%}")
    if answer.usage is not None:
        usage = answer.usage
        cost = f", cost {usage.cost:.4f}" if usage.cost is not None else ""
        said.append(
            f"language model {usage.model}: {usage.calls} calls, "
            f"{'about ' if usage.estimated else ''}{usage.prompt_tokens} + {usage.reply_tokens} "
            f"tokens{cost}"
        )
    said.append(f"corpus {answer.corpus}, agent {answer.agent}, {answer.seconds:.2f} s")
    if answer.trace:
        said.append(f"trace {answer.trace}")
    made = " · ".join(map(escaped, said))
    link = answer.browser or ""
    # A link of another kind (javascript:) would run something.
    if urlsplit(link).scheme in ("http", "https"):
        made += f' · <a href="{escaped(link)}">open the evidence in Neo4j Browser</a>'
    return made


def _structure(structural: StructuralAnswer) -> str:
    said = []
    if structural.reading:
        said.append(f'<p class="by">read as: {escaped(structural.reading)}</p>')
    if structural.doubt:
        said.append(f'<p class="notice">{escaped(structural.doubt)}</p>')
    if structural.markdown and structural.markdown not in structural.text:
        said.append(f'<pre class="cypher">{escaped(structural.markdown)}</pre>')
    if structural.citations:
        rows = "".join(map(_citation, structural.citations[:_CITATIONS]))
        left = len(structural.citations) - _CITATIONS
        said.append(f"<table>{_cells('th', *_CITED)}{rows}</table>")
        said.append(f"<p>… and {left} more</p>" if left > 0 else "")
    if structural.queries:
        said.append(
            f"<details><summary>The queries that gave it</summary>{_cypher(structural.queries)}"
            "</details>"
        )
    return "<h2>Pages and tables</h2>" + "".join(said)


def _citation(citation: Citation) -> str:
    page_ = "" if citation.page is None else str(citation.page)
    if citation.label and citation.label != page_:
        page_ += f" (printed {citation.label})"
    row = "" if citation.row is None else f"{citation.row} {citation.row_name}"
    column = "" if citation.column is None else f"{citation.column} {citation.column_name}"
    cells = (citation.title, page_, citation.table_name, row, column, citation.text)
    return _cells("td", *(escaped(cut(cell, 200)) for cell in cells))


def _cells(tag: str, *cells: str, row: str = "") -> str:
    """Return a row of a table; the cells are HTML already."""
    return f"<tr{row}>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def _words(answer: Answer, numbers: Mapping[str, int]) -> str:
    """Return the passages with their marks; without marks, the best passage."""
    passages = {passage.id: passage for passage in answer.passages}
    shown = [passages[p] for p in marked_passages(answer)] or list(answer.passages[:1])
    texts = "".join(
        f'<div><a href="#e{numbers[p.id]}">[{numbers[p.id]}]</a> <bdi>{_title(p)}</bdi> '
        f'<span class="by">{_place(p)}</span>'
        f'<div class="text{_rows(p)}" dir="auto">{marked_html(p, marks_of(answer, p))}</div></div>'
        for p in shown[:_TEXTS]
    )
    left = len(shown) - _TEXTS
    more = f"<p>… and {left} more passages that are cited</p>" if left > 0 else ""
    return f"<h2>In the passages</h2>{texts}{more}" if texts else ""


def _rows(passage: Passage) -> str:
    """Keep the line breaks of a passage that has a table; elsewhere they only wrap the text."""
    return " rows" if "\n|" in passage.text else ""


def _evidence(answer: Answer, numbers: Mapping[str, int]) -> str:
    if not answer.passages:
        return ""
    paths = {path.last: path for path in answer.paths}
    paged = any(passage.page is not None for passage in answer.passages)
    rows = "".join(
        _cells(
            "td",
            str(numbers[p.id]),
            f"<bdi>{_title(p)}</bdi>",
            *((str(p.page or ""),) if paged else ()),
            str(p.position + 1),
            f"{p.start}–{p.end}",
            f"{p.score:.2f}",
            _reached(paths.get(p.id), numbers),
            row=f' id="e{numbers[p.id]}"',
        )
        for p in answer.passages
    )
    names = ("", "document", *(("page",) if paged else ()), *_PLACES)
    return f"<h2>Evidence</h2><table>{_cells('th', *names)}{rows}</table>"


def _reached(path: ReasoningPath | None, numbers: Mapping[str, int]) -> str:
    if path is None:
        return GIVEN
    step = path.steps[-1]
    reason = f": {escaped(cut(step.reason, _TITLE))}" if step.reason else ""
    way = SEED
    if len(path.steps) > 1:
        before = path.steps[-2].passage
        way = f"from [{numbers.get(before, '?')}] by <code>{escaped(step.edge)}</code>"
    signals = f'<br><span class="by">{escaped(step.signals)}</span>' if step.signals else ""
    return f"{way}{reason}{signals}"


def _title(passage: Passage) -> str:
    return escaped(cut(passage.heading, _TITLE)) or "(no title)"


def _place(passage: Passage) -> str:
    # Not the whole path: others may see the page.
    name = PurePath(passage.source).name
    source = f"{cut(name, _TITLE)}, " if name else ""
    return escaped(f"{source}{passage.place}")


def _queries(queries: tuple[ShownQuery, ...]) -> str:
    made = _cypher(queries)
    return f"<h2>To be run again in Neo4j Browser</h2>{made}" if made else ""


def _cypher(queries: tuple[ShownQuery, ...]) -> str:
    return "".join(
        f'<p class="by">{escaped(_about(query))}</p>'
        f'<pre class="cypher">{escaped(chr(10).join(browser_lines(query)).strip())}</pre>'
        for query in queries
    )


def _about(query: ShownQuery) -> str:
    """Return the description in a query's own header."""
    words = [
        line[2:].strip()
        for line in query.cypher.splitlines()[1:]
        if line.startswith("//") and not line.startswith(("// mode:", "// example:"))
    ]
    return " ".join(words) or query.name
