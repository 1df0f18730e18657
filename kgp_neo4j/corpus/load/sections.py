"""The sections of a document: their heading paths, and the passages in them."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from kgp_neo4j.corpus.load import split
from kgp_neo4j.text.words import same_start
from kgp_neo4j.types.corpus import SourceDocument

Path: TypeAlias = tuple[str, ...]
#: Start, end and heading path of a part of a document.
_Part: TypeAlias = tuple[int, int, Path]

#: Characters of a heading within the title of a passage.
_LONGEST = 80
_START = attrgetter("start")


@dataclass(frozen=True, slots=True)
class Section:
    """A section `document[start:end]`; `path` has its heading and those above, not the title."""

    title: str
    level: int
    path: Path
    start: int
    end: int


class PlacedPassage(NamedTuple):
    """A passage `document[start:end]`, its page's number and the headings above all of it."""

    start: int
    end: int
    page: int | None
    path: Path


def outline(document: SourceDocument) -> list[Section]:
    """Return the sections of a document in order, without the one that is the whole document."""
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    ends = [*(section.start for section in document.sections[1:]), len(document.text)]
    for section, end in zip(document.sections, ends, strict=False):
        title = section.title
        if section is document.sections[0] and title == document.title:
            continue
        short = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1].rstrip()}…"
        above = [*(one for one in above if one[0] < section.level), (section.level, short)]
        path = tuple(name for _, name in above)
        sections.append(Section(title, section.level, path, section.start, end))
    return sections


def placed_passages(
    document: SourceDocument, sections: Sequence[Section], size: int | None
) -> list[PlacedPassage]:
    """Return a document's passages in order; with None as `size` each page is one.

    What is under a heading that stands before a passage is never joined with what is not.
    """
    text = document.text
    pages: list[tuple[int, int, int | None]] = [(p.start, p.end, p.number) for p in document.pages]
    headings = [section.start for section in document.sections]
    passages: list[PlacedPassage] = []
    before: Path = ()
    for begin, stop, page in pages or [(0, len(text), None)]:
        most = stop - begin if size is None else size
        parts = _parts(text, begin, stop, sections, headings)
        for start, end, path in _merged(text, parts, most, before):
            for first, last in split.passages(text[start:end], most):
                passages.append(PlacedPassage(start + first, start + last, page, path))
        before = parts[-1][2]
    return passages


def _parts(
    text: str, begin: int, stop: int, sections: Sequence[Section], headings: Sequence[int]
) -> list[_Part]:
    """Return the parts between two places, one per section; lone headings join the next part."""
    first = bisect_right(sections, begin, key=_START)
    inside = sections[first : bisect_left(sections, stop, lo=first, key=_START)]
    paths = [sections[first - 1].path if first else (), *(section.path for section in inside)]
    bounds = [begin, *(section.start for section in inside), stop]
    parts: list[_Part] = []
    is_lone = False
    for (start, end), path in zip(pairwise(bounds), paths, strict=True):
        parts.append((parts.pop()[0] if is_lone else start, end, path))
        is_lone = _is_heading(text, start, end, headings)
    return parts


def _is_heading(text: str, start: int, end: int, headings: Sequence[int]) -> bool:
    """Return whether a heading is the only text between two places."""
    at = bisect_left(headings, start)
    if at == len(headings) or headings[at] >= end or text[start : headings[at]].strip():
        return False
    return len(text[headings[at] : end].strip().rstrip("=- \t\r\n").splitlines()) == 1


def _merged(text: str, parts: Sequence[_Part], size: int, before: Path) -> list[_Part]:
    """Join neighbours up to `size` under the headings they share; `before` are the last ones."""
    merged: list[_Part] = []
    above = 0
    for start, end, path in parts:
        first, _, names = merged[-1] if merged else (start, end, ())
        shared = names[: same_start(names, path)]
        # The end of a chapter joined with the next one would have its own heading nowhere.
        if merged and len(shared) >= above and len(text[first:end].strip()) <= size:
            merged[-1] = (first, end, shared)
        else:
            merged.append((start, end, path))
            above = same_start(before, path)
        before = path
    return merged
