"""Read the headings of Markdown, AsciiDoc and reStructuredText; the text is not changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from kgp_neo4j.corpus.load.contents import named
from kgp_neo4j.corpus.load.grid import captioned
from kgp_neo4j.text.visible import is_visible
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourceSection, SourceTable

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE_END = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?P<values>(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_TITLE = re.compile(r"^title:[ \t]*+(?:[>|]\S?\s++)?+(?P<title>\S.*)", re.MULTILINE)
#: Characters of a heading at most; a longer one is a paragraph with a line drawn below it.
_LONGEST = 300


def read_markdown(text: str, where: str) -> SourceDocument:
    """Return a Markdown text with its title, sections and tables, placed in it as GitHub reads it.

    The title is that of the front matter, else the first heading of level one, or before any text.
    """
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(text)
    begin = front.end() if front else 0
    tokens = MarkdownIt("commonmark").enable("table").parse(text[begin:])
    starts = [begin, *(end.end() for end in _LINE_END.finditer(text, begin)), len(text)]
    if not any(is_visible(t.content) for t in tokens) and not front:
        text = ""  # "# " shows nothing
    sections, tables = [], []
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and not token.level and token.map:
            title = _plain(tokens[at + 1])
            if title and len(title) <= _LONGEST:
                sections.append(SourceSection(title, int(token.tag[1:]), starts[token.map[0]]))
        elif token.type == "table_open" and token.map:
            start, end = (starts[min(line, len(starts) - 1)] for line in token.map)
            end = start + len(text[start:end].rstrip("\r\n"))
            tables.append(_table(tokens[at:], start, end))
    titled = _TITLE.search(front["values"]) if front else None
    title = named(_unquoted(titled["title"].rstrip())) if titled else ""
    title = title or next((s.title for s in sections if s.level == 1), "")
    if not title and sections and not text[begin : sections[0].start].strip():
        title = sections[0].title
    found = captioned(text, tables)
    return SourceDocument(title, text, where, tables=found, sections=tuple(sections))


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" else text


def _table(tokens: Sequence[Token], start: int, end: int) -> SourceTable:
    rows: list[list[str]] = []
    for token in takewhile(lambda token: token.type != "table_close", tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_plain(token))
    heads = int(any(rows[0]))
    return SourceTable(tuple(map(tuple, rows[1 - heads :])), heads, start=start, end=end)


def _plain(token: Token) -> str:
    parts = []
    for part in token.children or ():
        is_break = part.type == "html_inline" and part.content.lower().startswith("<br")
        if is_break or part.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif part.type != "html_inline":
            parts.append(part.content)
    return " ".join("".join(parts).split())


# --- AsciiDoc and reStructuredText ---

#: A block whose lines are as they are, and a heading.
_AS_IT_IS = re.compile(r"-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,}")
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
#: A line of one sign, below a heading or on both sides of it.
_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")


def read_asciidoc(text: str, where: str) -> SourceDocument:
    """Return title and sections of an AsciiDoc text, with their places in it."""
    sections, block, at = [], "", 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if block or _AS_IT_IS.fullmatch(bare):
            block = "" if bare == block else block or bare
        elif found := _HEADING.fullmatch(line.rstrip()):
            mark, title = found.groups()
            if title.endswith((f" {mark}", f"\t{mark}")):
                title = title.removesuffix(mark).rstrip()
            sections.append(SourceSection(title, len(mark), at))
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
