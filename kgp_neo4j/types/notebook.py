"""HTML for notebooks: answers and retrievals in a few lines, all escaped."""

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from kgp_neo4j.types.corpus import Answer, Passage, Retrieval

_SHOWN = 10
_EXCERPT = 400  # characters
_TEMPLATES = Environment(
    loader=PackageLoader("kgp_neo4j.types", ""),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)


def result_html(result: Answer | Retrieval) -> str:
    """Return an answer or a retrieval with its evidence, passages and paths, as HTML."""
    answer = result if isinstance(result, Answer) else None
    marks: dict[str, list[tuple[int, int]]] = {}
    if answer:
        spans = answer.reading.spans if answer.reading else ()
        for span in spans or answer.sentences[:1]:
            marks.setdefault(span.passage, []).append((span.start, span.end))
    return _TEMPLATES.get_template("notebook.html").render(
        answer=answer,
        question=result.question if isinstance(result, Answer) else result.question.text,
        passages=result.passages,
        seconds=result.seconds,
        shown=_SHOWN,
        numbers={passage.id: number for number, passage in enumerate(result.passages, 1)},
        titles={passage.id: passage.cited for passage in result.passages},
        paths={path.last: path.steps for path in result.paths},
        excerpt=lambda passage: _excerpt(passage, marks.get(passage.id, ())),
    )


def _excerpt(passage: Passage, spans: Sequence[tuple[int, int]]) -> Markup:
    """Return the passage's text around the first span, escaped, with the spans marked."""
    text = passage.text
    inside = sorted((s, e) for s, e in spans if 0 <= s < e <= len(text))
    begin = max(inside[0][0] - _EXCERPT // 2, 0) if inside else 0
    end = max(begin + _EXCERPT, inside[0][1] if inside else 0)
    pieces, at = ["… " if begin else ""], begin
    for s, e in inside:
        if s < at or e > end:
            continue
        pieces += [escape(text[at:s]), Markup("<mark>{}</mark>").format(text[s:e])]
        at = e
    return Markup("").join([*pieces, text[at:end], " …" if end < len(text) else ""])
