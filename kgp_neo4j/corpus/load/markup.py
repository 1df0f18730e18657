"""Read the headings of AsciiDoc and reStructuredText; the text is not changed."""

import re
from itertools import accumulate

from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourceSection

#: A block whose lines are as they are, and a heading.
_AS_IT_IS = re.compile(r"-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,}")
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?\s*")
#: A line of one sign, below a heading or on both sides of it.
_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")


def read_asciidoc(text: str, where: str) -> SourceDocument:
    """Return title and sections of an AsciiDoc text, with their places in it."""
    sections, block, at = [], "", 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if block or _AS_IT_IS.fullmatch(bare):
            block = "" if bare == block else block or bare
        elif found := _HEADING.fullmatch(line):
            sections.append(SourceSection(found[2], len(found[1]), at))
        at += len(line)
    return _document(text, where, sections)


def read_restructured_text(text: str, where: str) -> SourceDocument:
    """Return title and sections of a reStructuredText; levels are told by their first use."""
    sections: list[SourceSection] = []
    levels: dict[tuple[str, bool], int] = {}
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    for at in range(1, len(lines)):
        title, under = lines[at - 1].rstrip(), lines[at].rstrip()
        over = lines[at - 2].rstrip() if at > 1 else ""
        if (
            _LINE.fullmatch(under)
            and title.strip()
            and not _LINE.fullmatch(title)
            and len(under) >= len(title)
            and (not over or over == under)
        ):
            level = levels.setdefault((under[0], over == under), len(levels) + 1)
            begin = starts[at - 2 if over else at - 1]
            sections.append(SourceSection(title.strip(), min(level, 6), begin))
    return _document(text, where, sections)


def _document(text: str, where: str, sections: list[SourceSection]) -> SourceDocument:
    title = sections[0].title if sections and sections[0].level == 1 else ""
    return SourceDocument(title, text, where, sections=tuple(sections))
