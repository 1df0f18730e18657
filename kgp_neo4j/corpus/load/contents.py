"""Join what a reader finds in a file into one text, with the places of its tables."""

import re
from dataclasses import replace
from typing import Any

from kgp_neo4j.corpus.load.grid import markdown
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourceTable

_GAP = "\n\n"
#: Titles that programs give a file: what they are, a part of it, a file's name, a number.
_MADE_UP = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)|powerpoint|untitled)\b.*|.{0,20} powerpoint"
    r"|(?:word |excel )?(?:document|presentation|workbook|book|slide|print|layout)[ _-]?\d*"
    r"|.*\.[a-z]\w{1,3}|(?=[\w-]*?\d{4})[\w-]++",
    re.IGNORECASE,
)
#: Words in the place of a title, also alone in brackets, as "(anonymous)".
_PLACEHOLDER = re.compile(
    r"[(\[<{].*[)\]>}]|\W*|(?:anonymous|no|none|null|nil|title|unknown|unnamed|untitled"
    r"|unspecified|unbenannt|ohne titel|sans titre|sin t[ií]tulo|sem t[ií]tulo|senza titolo"
    r"|zonder titel|無題|无标题)(?: (?:document|title|\d+))?",
    re.IGNORECASE,
)


class Blocks:
    """Join paragraphs and tables with an empty line between; tables are written as Markdown."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self.tables: list[SourceTable] = []
        self.left_out: list[str] = []

    @property
    def text(self) -> str:
        """Return the text so far; the last block ends it."""
        return "".join(self._parts).removesuffix(_GAP)

    def add(self, text: str) -> None:
        """Add a paragraph; an empty one adds nothing."""
        if text := text.strip():
            self._parts += (text, _GAP)
            self.length += len(text) + len(_GAP)

    def add_table(self, table: SourceTable) -> None:
        """Add a table: its caption, unless it is the text just before, and its Markdown."""
        if table.caption and table.caption not in self._parts[-2:]:
            self.add(table.caption)
        shown = markdown(table)
        self.tables.append(replace(table, start=self.length, end=self.length + len(shown)))
        self.add(shown)

    def document(self, where: str, title: str = "", **more: Any) -> SourceDocument:
        """Return a document of all that was added and left out."""
        more |= {"tables": tuple(self.tables), "left_out": tuple(self.left_out)}
        return SourceDocument(title, self.text, where, **more)


def counted(element: Any, name: str) -> int:
    """Return the number that an attribute gives, 1 where there is none."""
    value = str(element.get(name, "")).strip()
    return int(value) if value.isdecimal() and len(value) < 13 else 1


def hidden_parts(count: int) -> tuple[str, ...]:
    """Return what is said of hidden parts that are left out of a document, nothing for none."""
    return (f"{count:,} hidden part{' is' if count == 1 else 's are'} left out",) if count else ()


def named(title: str) -> str:
    """Return a title, an empty text for one that only holds its place."""
    return "" if _PLACEHOLDER.fullmatch(title.strip()) else title


def given_title(said: object) -> str:
    """Return the title in a file's properties, empty for none and for one that a program made."""
    title = " ".join(str(said or "").replace("\x00", "").split())
    is_title = title.isprintable() and len(title) <= 300 and not _MADE_UP.fullmatch(title)
    return named(title) if is_title else ""
