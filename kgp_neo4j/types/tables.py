"""Frozen types of pages and tables: as read from a file, and as cited by an answer."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

#: How an answer is given: as it is, with "probably", as the sentences that say most, or not at all.
Tier = Literal["stated", "probable", "evidence", "none"]
#: Least confidence of an answer that is given as probable.
PROBABLE = 0.5


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page `document[start:end]`; the pages of a document tile its text.

    `number` counts from 1, `label` is the number as printed ("iv"; empty where there is none).
    `header` and `footer` are repeated on pages, and left out of the text. `recognised` is true
    where the text was read from a picture.
    """

    number: int
    start: int
    end: int
    label: str = ""
    header: str = ""
    footer: str = ""
    recognised: bool = False


@dataclass(frozen=True, slots=True)
class SourceSection:
    """A section as given by its heading: title, level from 1, and where the heading begins."""

    title: str
    level: int
    start: int


@dataclass(frozen=True, slots=True)
class Span:
    """A merged cell: its first row and column (from 0), and the number of each that it covers."""

    row: int
    column: int
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table as a grid of texts; every row has the same number of cells, "" where one is empty.

    The first `header_rows` rows name the columns. A merged cell's text stands in each place that it
    covers, and `spans` lists the merged ones. `number` is the table's in its `caption` ("2",
    "A.1"). `start` and `end` are the offsets of the table's Markdown in the document's text (both 0
    where it has none). `row_pages` gives the page (from 1) of every row, if there are pages.
    """

    rows: tuple[tuple[str, ...], ...]
    header_rows: int = 1
    caption: str = ""
    number: str = ""
    start: int = 0
    end: int = 0
    spans: tuple[Span, ...] = ()
    row_pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TableSummary:
    """A table of a corpus as it is listed: its place, its size, and its columns' names."""

    id: str
    document: str
    name: str
    caption: str
    pages: tuple[int, ...]
    rows: int
    columns: tuple[str, ...]


def cited_name(title: str, apart: str) -> str:
    """Return a document's title as a citation shows it, with what tells it from others.

    `apart` is the end of its file's path, empty where no other document has the title.
    """
    named = PurePath(apart.removesuffix(".gz")).stem.replace("_", " ") == title
    return f"{title} ({apart})" if apart and not named else apart or title


def ends_apart(documents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return, by title and source, the shortest end of a source's path that no other one has.

    Only documents whose title others have are in it; of a few `passage.cypher` tells it.
    """
    known = set(documents)
    titles = Counter(title for title, _ in known)
    parts = {each: each[1].split("/") for each in known if titles[each[0]] > 1}
    ends = {one: ["/".join(own[-n:]) for n in range(1, len(own) + 1)] for one, own in parts.items()}
    count = Counter((title, end) for (title, _), own in ends.items() for end in own)
    return {
        (title, source): next((end for end in own if count[title, end] == 1), source)
        for (title, source), own in ends.items()
    }


@dataclass(frozen=True, slots=True)
class Citation:
    """The place of a part of an answer: document, page, table, and the cell where there is one.

    `page`, `column` and data rows (`row`, 0 or less in a header) count from 1, `label` is the page
    as printed, `table` the table's id, `column_name` the header, `text` what stands at that place.
    """

    document: str
    title: str
    page: int | None = None
    label: str = ""
    table: str = ""
    table_name: str = ""
    row: int | None = None
    row_name: str = ""
    column: int | None = None
    column_name: str = ""
    text: str = ""

    @property
    def place(self) -> str:
        """Return where in its document this is: "page 2 (printed ii), Table 1, row 3 (Ardfin)"."""
        parts = [self.table_name]
        if self.page is not None:
            printed = f" (printed {self.label})" if self.label not in ("", str(self.page)) else ""
            parts.insert(0, f"page {self.page}{printed}")
        for name in ("row", "column"):
            number, title = getattr(self, name), getattr(self, f"{name}_name")
            if number is not None:
                where = f"{name} {number}" if number > 0 else "header"
                parts.append(f"{where} ({title})" if title else where)
        return ", ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class ShownQuery:
    """A read-only Cypher statement that was run, with its parameters, to be run again."""

    name: str
    cypher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TypeDecision:
    """Whether a question is `structural` (pages, tables), about `content`, or `both`, and why.

    `by` is `classifier`, `model` or `option`.
    """

    type: str
    by: str = "classifier"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StructuralAnswer:
    """An answer taken from pages and tables, with citations and the queries that gave it.

    `values` are the single answers, `text` gives them in a sentence. Where the `reading` of the
    question is uncertain, `sure` is false, `doubt` is the reason, `text` claims nothing and
    `markdown` is the table or page. `found` is false where a page or table asked for does not
    exist; `text` lists those that do. It `computes` where only rows together tell: a sum, a count.
    """

    text: str
    values: tuple[str, ...] = ()
    sure: bool = True
    found: bool = True
    doubt: str = ""
    reading: str = ""
    confidence: float = 1.0
    citations: tuple[Citation, ...] = ()
    queries: tuple[ShownQuery, ...] = ()
    markdown: str = ""
    computes: bool = False

    @property
    def probable(self) -> bool:
        """Return whether its values are likelier right than not, though not sure."""
        return not self.sure and bool(self.values) and self.confidence >= PROBABLE

    @property
    def tier(self) -> Tier:
        """Return how it is given where it is the answer; see `Answer.tier`."""
        if not self.found or not (self.text or self.markdown):
            return "none"
        return "stated" if self.sure else "probable" if self.probable else "evidence"
