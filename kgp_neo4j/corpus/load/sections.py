"""The sections of a document: their heading paths, and the passages in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import NamedTuple, TypeAlias

from kgp_neo4j.corpus.load import split
from kgp_neo4j.types.corpus import PassageText, SourceDocument

__all__ = ["PlacedPassage", "Section", "outline", "placed_passages"]

#: Start, end and heading path of a part of a document.
_Part: TypeAlias = tuple[int, int, tuple[str, ...]]

#: Characters of a heading within the title of a passage.
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Section:
    """A section `document[start:end]` up to the next heading, of any level.

    `path` has the headings above it and its own, without the document's title.
    """

    title: str
    level: int
    path: tuple[str, ...]
    start: int
    end: int


class PlacedPassage(NamedTuple):
    """A passage with its page's number and the headings above the whole of it."""

    passage: PassageText
    page: int | None
    path: tuple[str, ...]


def outline(document: SourceDocument) -> list[Section]:
    """Return the sections of a document in order, without the one that is the whole document."""
    made: list[Section] = []
    above: list[tuple[int, str]] = []
    found = document.sections
    ends = [*(section.start for section in found[1:]), len(document.text)]
    for at, (section, end) in enumerate(zip(found, ends, strict=False)):
        if not at and section.title == document.title:
            continue
        while above and above[-1][0] >= section.level:
            above.pop()
        title = section.title
        short = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1].rstrip()}…"
        above.append((section.level, short))
        path = tuple(name for _, name in above)
        made.append(Section(title, section.level, path, section.start, end))
    return made


def placed_passages(
    document: SourceDocument, sections: Sequence[Section], size: int | None
) -> list[PlacedPassage]:
    """Return a document's passages in order; with None as `size` each page is one.

    No passage crosses a page's end. Each has a part of one section, or several whole short ones;
    what is under a heading that stands before the passage is never joined with what is not.
    """
    text = document.text
    pages: list[tuple[int, int, int | None]] = [
        (page.start, page.end, page.number) for page in document.pages
    ]
    headings = [section.start for section in document.sections]
    made: list[PlacedPassage] = []
    before: tuple[str, ...] = ()
    for begin, stop, page in pages or [(0, len(text), None)]:
        whole = stop - begin if size is None else size
        parts: Iterable[_Part] = [(begin, stop, ())]
        if sections:
            found = _parts(text, begin, stop, sections, headings)
            parts = _packed(text, found, whole, before)
            before = found[-1][2]
        for start, end, path in parts:
            for part in split.passages(text[start:end], whole):
                moved = PassageText(len(made), start + part.start, start + part.end, part.text)
                made.append(PlacedPassage(moved, page, path))
    return made


def _parts(
    text: str, begin: int, stop: int, sections: Sequence[Section], headings: Sequence[int]
) -> list[_Part]:
    """Return the parts between two places, one per section; lone headings join the next part."""
    first = bisect_right(sections, begin, key=_start)
    inside = sections[first : bisect_left(sections, stop, lo=first, key=_start)]
    paths = [sections[first - 1].path if first else (), *(section.path for section in inside)]
    bounds = [begin, *(section.start for section in inside), stop]
    made: list[_Part] = []
    lone = False
    for (start, end), path in zip(pairwise(bounds), paths, strict=True):
        made.append((made.pop()[0] if lone else start, end, path))
        lone = _is_heading(text, start, end, headings)
    return made


def _is_heading(text: str, start: int, end: int, headings: Sequence[int]) -> bool:
    """Return whether a heading is the only text between two places."""
    at = bisect_left(headings, start)
    if at == len(headings) or headings[at] >= end or text[start : headings[at]].strip():
        return False
    return len(text[headings[at] : end].strip().rstrip("=- \t\r\n").splitlines()) == 1


def _packed(
    text: str, parts: Iterable[_Part], size: int, before: tuple[str, ...]
) -> Iterator[_Part]:
    """Join neighbours up to `size`; a joined part has the headings that all its parts share.

    `before` are the headings of what stands before the first part.
    """
    held: list[_Part] = []
    above = 0
    for part in parts:
        _, end, path = part
        # The end of a chapter joined with the next one would have its own heading nowhere.
        if held and (
            len(text[held[0][0] : end].strip()) > size or len(_shared(held[0][2], path)) < above
        ):
            yield _joined(held)
            held = []
        if not held:
            above = len(_shared(before, path))
        held.append(part)
        before = path
    if held:
        yield _joined(held)


def _joined(parts: Sequence[_Part]) -> _Part:
    paths = [path for _, _, path in parts]
    # What the first and the last in order share, all between them share.
    return parts[0][0], parts[-1][1], _shared(min(paths), max(paths))


def _shared(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return tuple(name for name, _ in same)


def _start(section: Section) -> int:
    return section.start
