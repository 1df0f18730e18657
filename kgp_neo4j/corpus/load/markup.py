"""Read the headings of AsciiDoc and reStructuredText, and AsciiDoc's tables; the text stays."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from kgp_neo4j.corpus.load.grid import captioned, table_of
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourceSection, SourceTable

#: A block whose lines are as they are, a heading, and the mark at both ends of a table.
_AS_IT_IS = re.compile(r"-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,}")
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?\s*")
_TABLE = re.compile(
    r"(?:^\.(?P<caption>\w.*)\n)?(?:^\[.*\]\n)?"
    r"^(?P<table>\|={3,}[ \t]*\n(?P<lines>(?:.*\n)*?)\|={3,})[ \t]*$",
    re.MULTILINE,
)
_CELL = re.compile(r"(?<!\\)(?:\d*\.?\d*[+*])?[<^>.]*[a-z]?\|")
#: A line of one sign, below a heading or on both sides of it.
_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")


def read_asciidoc(text: str, where: str) -> SourceDocument:
    """Return title, sections and tables of an AsciiDoc text, with their places in it."""
    sections, block, at = [], "", 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if block or _AS_IT_IS.fullmatch(bare):
            block = "" if bare == block else block or bare
        elif found := _HEADING.fullmatch(line):
            sections.append(SourceSection(found[2], len(found[1]), at))
        at += len(line)
    tables = [table for table in map(_table, _TABLE.finditer(text)) if table]
    return _document(text, where, sections, tables)


def _table(found: re.Match[str]) -> SourceTable | None:
    first, *_ = lines = [line for line in found["lines"].splitlines() if "|" in line] or [""]
    cells = [" ".join(c.split()) for line in lines for c in _CELL.split(line)[1:]]
    width = len(_CELL.split(first)) - 1
    rows = [cells[at : at + width] for at in range(0, len(cells), width or 1)]
    whole = [row for row in rows if len(row) == width > 1]
    if not whole or not (table := table_of(whole, (), found["caption"] or "")):
        return None
    return replace(table, start=found.start("table"), end=found.end("table"))


def read_restructured_text(text: str, where: str) -> SourceDocument:
    """Return title and sections of a reStructuredText, with their places in it.

    Which lines head which others is told by the order in which they first come.
    """
    sections: list[SourceSection] = []
    levels: dict[tuple[str, bool], int] = {}
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
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
    return _document(text, where, sections, ())


def _document(
    text: str, where: str, sections: list[SourceSection], tables: Iterable[SourceTable]
) -> SourceDocument:
    title = sections[0].title if sections and sections[0].level == 1 else ""
    placed = captioned(text, tuple(tables))
    return SourceDocument(title, text, where, tables=placed, sections=tuple(sections))
