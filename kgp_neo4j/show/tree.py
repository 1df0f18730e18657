"""The reasoning paths of an answer as a picture: an SVG tree laid out here, from left to right."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kgp_neo4j.corpus.answer.visits import GIVEN, SEED, Visit, children, chosen, visits
from kgp_neo4j.show.html import escaped, width
from kgp_neo4j.show.marks import rests_on
from kgp_neo4j.text.safe import cut, plain
from kgp_neo4j.types.corpus import Answer, Passage

__all__ = ["svg"]

#: The colour of each kind of edge; others are grey.
_COLOURS = {
    SEED: "#37474f",
    "SHARES_ENTITY": "#6a1b9a",
    "SHARES_KEYWORD": "#1565c0",
    "MENTIONS": "#00838f",
    "SIMILAR_ST": "#2e7d32",
    "SIMILAR_MDR": "#558b2f",
    "NEXT": "#b26a00",
}
_OTHER = "#757575"
#: Visits that are drawn at most, so that the picture stays readable.
_MOST = 24
_ROW, _TALL, _WIDE, _GAP, _TOP, _LEFT = 46, 36, 176, 168, 50, 34
_TITLE, _REASON = 26, 26


def svg(answer: Answer, most: int = _MOST) -> str:
    """Return the reasoning paths as an SVG picture of at most `most` visits.

    The question is on the left, then the seeds, then hop by hop what was reached from them; the
    edges show their type and reason, the boxes the passage's number and score. Where there are more
    visits than that, the paths to the passages that support the answer come first, then the best;
    the last line counts the missing ones. Returns an empty text where nothing was visited.
    """
    made = visits(answer)
    marked = rests_on(answer)
    shown = chosen(made, most, marked)
    if not shown:
        return ""
    rows = _rows(shown)
    left = len({visit.step.passage for visit in made} - {visit.step.passage for visit in shown})
    deepest = max(visit.hop for visit in shown)
    across = _x(deepest) + _WIDE + 10
    down = _TOP + _ROW * max(rows.values()) + _TALL / 2 + (30 if left else 10)
    passages = {passage.id: passage for passage in answer.passages}
    ranks = {passage.id: rank for rank, passage in enumerate(answer.passages, 1)}
    middle = _TOP + _ROW * _centre(rows, [v for v in shown if v.hop == 0])
    heads = "".join(
        f'<text class="h" x="{_x(hop)}" y="18">{"Seeds" if hop == 0 else f"Hop {hop}"}</text>'
        for hop in range(deepest + 1)
    )
    body = "".join(
        _line(visit, rows, middle) + _box(visit, rows, passages, ranks, marked) for visit in shown
    )
    missing = f"… and {left} more passages" if left else ""
    more = f'<text class="r" x="{_x(0)}" y="{down - 8:.0f}">{missing}</text>' if left else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down:.0f}" '
        f'viewBox="0 0 {across} {down:.0f}" role="img"><title>Reasoning paths</title>'
        f"<style>{_style()}</style>{heads}"
        f'<g><title>{escaped(plain(answer.question))}</title><circle cx="18" cy="{middle:.0f}" '
        f'r="12"/><text class="q" x="18" y="{middle + 5:.0f}">?</text></g>{body}{more}</svg>'
    )


def _style() -> str:
    kinds = "".join(f".{kind}{{--c:{colour}}}" for kind, colour in _COLOURS.items())
    return (
        f"svg{{--c:{_OTHER};font:12px system-ui,sans-serif;background:#fff}}{kinds}"
        "path{fill:none;stroke:var(--c);stroke-width:1.4}rect{fill:#fff;stroke:#90a4ae}"
        ".m rect{fill:#fff9c4;stroke:#b26a00}circle{fill:#37474f}.q{fill:#fff;text-anchor:middle}"
        ".h{font-weight:600;fill:#37474f}.e{font-size:9.5px;fill:var(--c)}"
        ".r{font-size:10.5px;fill:#555}"
    )


def _x(hop: int) -> int:
    return _LEFT + _GAP + hop * (_WIDE + _GAP)


def _rows(shown: Sequence[Visit]) -> dict[int, float]:
    """Return the row of every visit: leaves in rows, each parent in the middle of its children."""
    below = children(shown)
    rows: dict[int, float] = {}
    free = 0
    # Not recursive: a traversal of many hops must not exhaust the stack.
    left = list(reversed(below.get(None, [])))
    order: list[Visit] = []
    while left:
        visit = left.pop()
        order.append(visit)
        own = below.get(visit.order, [])
        if not own:
            rows[visit.order] = free
            free += 1
        left += reversed(own)
    for visit in reversed(order):
        if visit.order not in rows:
            rows[visit.order] = _centre(rows, below[visit.order])
    return rows


def _centre(rows: Mapping[int, float], own: Sequence[Visit]) -> float:
    places = [rows[visit.order] for visit in own]
    return (min(places) + max(places)) / 2


def _line(visit: Visit, rows: Mapping[int, float], middle: float) -> str:
    step = visit.step
    y = _TOP + _ROW * rows[visit.order]
    y0 = middle if visit.before is None else _TOP + _ROW * rows[visit.before]
    x0 = 30 if visit.before is None else _x(visit.hop - 1) + _WIDE
    x1 = _x(visit.hop)
    bend = x0 + 22
    edge = step.edge if step.edge in _COLOURS else ""
    said = {SEED: "seed", GIVEN: "given"}.get(step.edge, step.edge)
    kind = f' class="{edge}"' if edge else ""
    return (
        f'<g{kind}><path d="M{x0} {y0:.0f}C{bend} {y0:.0f} {x0} {y:.0f} {bend} {y:.0f}H{x1}"/>'
        f'<text class="e" x="{bend + 3}" y="{y - 4:.0f}">{escaped(cut(said, _REASON))}</text>'
        f'<text class="r" x="{bend + 3}" y="{y + 12:.0f}">'
        f"{escaped(_fitting(step.reason, _GAP - 30, 10.5, _REASON))}</text></g>"
    )


def _box(
    visit: Visit,
    rows: Mapping[int, float],
    passages: Mapping[str, Passage],
    ranks: Mapping[str, int],
    marked: Collection[str],
) -> str:
    step = visit.step
    passage = passages.get(step.passage)
    title = passage.title if passage else "(no longer in the corpus)"
    x, y = _x(visit.hop), _TOP + _ROW * rows[visit.order]
    number = f"[{ranks[step.passage]}] " if step.passage in ranks else ""
    said = f"{plain(title)}: {step.signals}" if step.signals else plain(title)
    kind = ' class="m"' if step.passage in marked else ""
    return (
        f'<g{kind}><title>{escaped(said)}</title><rect x="{x}" y="{y - _TALL / 2:.0f}" '
        f'width="{_WIDE}" height="{_TALL}" rx="5"/><text x="{x + 8}" y="{y - 3:.0f}">'
        f"{escaped(_fitting(title, _WIDE - 16, 12, _TITLE))}</text>"
        f'<text class="r" x="{x + 8}" y="{y + 12:.0f}">{number}score {step.score:.2f}</text></g>'
    )


def _fitting(text: str, pixels: float, font: float, length: int) -> str:
    """Return a text cut to a width; wide letters need more room."""
    made = cut(text, length)
    while made and width(made, font) > pixels:
        made = cut(made, min(len(made) - 1, int(len(made) * pixels / width(made, font)) or 1))
    return made
