"""Find the headings of a PDF's text: by its outline, else by the size and weight of letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence

from kgp_neo4j.corpus.load.pdf.page import Heading
from kgp_neo4j.types.tables import SourceSection

__all__ = ["sections_of"]

_MARKS = re.compile(r"[\W_]+")
#: Least ratio of a heading's letter size to that of running text.
_LARGER = 1.12
#: Least characters of a paragraph below a heading.
_LEAST = 60


def sections_of(
    marks: Sequence[tuple[int, Heading | int]],
    sizes: Counter[float],
    outline: Iterable[tuple[int, str]],
    titles: Container[str],
) -> tuple[SourceSection, ...]:
    """Return the sections that the headings among a document's blocks begin.

    `marks` are the places of the blocks, `sizes` those of all letters. The entries of the file's
    `outline` give the headings and their levels, where most of them are found in the text.
    Otherwise a heading is a block that is larger than most letters, or bold, and comes before a
    paragraph or another heading; larger ones have higher levels. `titles` are of the whole
    document.
    """
    levels = {name: level for level, title in outline if (name := _name(title))}
    listed = [(start, block) for start, block in marks
              if isinstance(block, Heading) and _name(block) in levels]  # fmt: skip
    if listed and 2 * len({_name(block) for _, block in listed}) >= len(levels):
        return tuple(
            SourceSection(str(block), levels[_name(block)], start)
            for start, block in listed
            if block not in titles
        )
    usual = sizes.most_common(1)[0][0] if sizes else 0.0
    headings: list[tuple[int, Heading, float]] = []
    is_above = False
    for start, block in reversed(marks):
        if isinstance(block, int):
            is_above = block >= _LEAST
            continue
        is_large = block.size >= _LARGER * usual
        is_above = is_above and (is_large or (block.bold and block.size > 0.95 * usual))
        if is_above and block not in titles:
            headings.append((start, block, max(round(block.size), round(usual))))
    ranks = sorted({size for *_, size in headings}, reverse=True)
    return tuple(
        SourceSection(str(block), 1 + ranks.index(size), start)
        for start, block, size in reversed(headings)
    )


def _name(title: str) -> str:
    return _MARKS.sub("", title).casefold().lstrip("0123456789")
