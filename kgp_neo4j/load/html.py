"""Takes the readable text out of an HTML page; nothing in it is ever run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup
from bs4.element import CData, NavigableString, PreformattedString, Tag
from bs4.exceptions import ParserRejectedMarkup

from kgp_neo4j.errors import InputError

__all__ = ["text_of_html"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DROPPED = frozenset(("head", "noscript", "script", "style", "template"))
_PARAGRAPHS = _words(
    "address article aside blockquote body details div dl fieldset figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr main nav ol p pre section table ul"
)
_LINES = _words("br caption dd dt figcaption li option summary tr")
_CELLS = frozenset(("td", "th"))
_SPACE = re.compile(r"[ \t\r\n\f]+")


class _Lines:
    """Collects words and line breaks the way a browser lays them out."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._breaks = 0
        self._space = ""

    def end_line(self, breaks: int) -> None:
        self._breaks = max(self._breaks, breaks)
        self._space = ""

    def cell(self) -> None:
        if self._parts and not self._breaks:
            self._space = "\t"

    def add(self, text: str, *, preformatted: bool) -> None:
        if preformatted:
            if text:
                self._append(text)
            return
        words = _SPACE.sub(" ", text)
        if words.startswith(" ") and not self._space:
            self._space = " "
        if bare := words.strip(" "):
            self._append(bare)
            self._space = " " if words.endswith(" ") else ""

    def _append(self, text: str) -> None:
        if self._parts:
            self._parts.append("\n" * self._breaks or self._space)
        self._parts.append(text)
        self._breaks, self._space = 0, ""

    def text(self) -> str:
        return "".join(self._parts).strip()


def text_of_html(markup: str, where: str) -> tuple[str, str]:
    """Return title and text of a page; paragraphs end in an empty line, cells in a tab.

    The title is that of `<title>`, else the first `<h1>`, else empty. Scripts and styles are left
    out. Raises InputError for a page that cannot be parsed.
    """
    try:
        page = BeautifulSoup(markup, "html.parser")
        lines = _Lines()
        inside_pre = 0
        for node, opens in _events(page):
            if isinstance(node, NavigableString):
                lines.add(str(node), preformatted=inside_pre > 0)
                continue
            if node.name == "pre":
                inside_pre += 1 if opens else -1
            if node.name in _PARAGRAPHS:
                lines.end_line(2)
            elif node.name in _LINES:
                lines.end_line(1)
            elif node.name in _CELLS and opens:
                lines.cell()
        return _title(page), lines.text()
    except (ParserRejectedMarkup, RecursionError) as error:
        raise InputError("not HTML that can be read", where=where) from error


def _events(page: Tag) -> Iterator[tuple[Tag | NavigableString, bool]]:
    """Yield every tag as it opens and closes, and text between; deep pages need no deep stack."""
    waiting: list[tuple[Tag | NavigableString, bool]] = [(page, True)]
    while waiting:
        node, opens = waiting.pop()
        if isinstance(node, Tag):
            if node.name in _DROPPED:
                continue
            yield node, opens
            if opens:
                waiting.append((node, False))
                waiting += [
                    (child, True)
                    for child in reversed(node.contents)
                    if isinstance(child, Tag | NavigableString)
                ]
        elif not isinstance(node, PreformattedString) or isinstance(node, CData):
            yield node, True


def _title(page: BeautifulSoup) -> str:
    for name in ("title", "h1"):
        found = page.find(name)
        if found and (text := _SPACE.sub(" ", found.get_text()).strip()):
            return text
    return ""
