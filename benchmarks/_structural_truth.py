"""What is on the pages and in the tables of the sample PDFs, found without this project's loader.

Documents with ground truth are read from docling's JSON. The tables of the others were read off the
pages by eye (`structural_tables.json`, by the beginning of a file's name), and words and rows are
counted with pdfplumber directly.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Table:
    """A table: how a question names it, its pages, caption, columns, and rows below the header."""

    called: str
    pages: list[int]
    caption: str
    columns: list[str]
    rows: list[list[str]]
    number: str = ""
    #: Where only some cells were read off by eye: (row name, column, text).
    known: list[tuple[str, str, str]] = field(default_factory=list)
    counted: bool = True


@dataclass
class Facts:
    """What is known of a document; `pages` maps a page to its words (lists of tokens, in order)."""

    name: str
    page_count: int
    tables: list[Table]
    words: dict[int, list[list[str]]]
    texts: dict[int, str]
    header: dict[int, str] = field(default_factory=dict)
    footer: dict[int, str] = field(default_factory=dict)
    headings: dict[int, list[str]] = field(default_factory=dict)
    tables_counted: bool = True


def facts_of(folder: Path) -> list[Facts]:
    """Return the facts of all documents that are there; `folder` is data/pdfs."""
    measured = sorted((folder / "docling/groundtruth").glob("*.json"))
    others = sorted((folder / "pdfplumber").glob("*.pdf"))
    return [*map(_docling, measured), *map(_by_hand, others)]


# --- docling's ground truth ---------------------------------------------------------------------


def _docling(file: Path) -> Facts:
    data = json.loads(file.read_text(encoding="utf-8"))
    for cell in (cell for item in data["tables"] for cell in item["data"]["table_cells"]):
        # Bullets that docling reads as the name of their glyph are no text.
        cell["text"] = re.sub(r"\bSM\d{6}\b", " ", cell["text"])
    numbers = sorted(int(number) for number in data["pages"])
    texts: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for item in data["texts"]:
        for place in item.get("prov", ()):
            texts[place["page_no"]].append(item)
    captions = {item["self_ref"]: item["text"] for item in data["texts"]}
    tables = [_table(item, captions) for item in data["tables"]]
    body = {
        page: [item for item in items if item.get("content_layer", "body") == "body"]
        for page, items in texts.items()
    }
    words = {n: [_tokens(item["text"]) for item in body.get(n, ())] for n in numbers}
    for item in data["tables"]:
        grid, _ = grid_of(item["data"])
        words[item["prov"][0]["page_no"]] += [_tokens(text) for row in grid for text in row]
    lone = [t for t in tables if sum(t.pages == other.pages for other in tables) == 1]
    return Facts(
        name=file.stem,
        page_count=len(numbers),
        tables=[t for t in tables if t.number or t in lone],
        words=words,
        texts={n: "\n".join(item["text"] for item in body.get(n, ())) for n in numbers},
        header=_margin(texts, "page_header"),
        footer=_margin(texts, "page_footer"),
        headings={
            page: [i["text"] for i in items if i["label"] in ("section_header", "title")]
            for page, items in body.items()
        },
        # A table of contents and a listing are tables in docling's eyes.
        tables_counted=all(t.number or len(tables) == 1 for t in tables),
    )


def _table(item: dict[str, Any], captions: dict[str, str]) -> Table:
    page = item["prov"][0]["page_no"]
    caption = " ".join(captions[ref["$ref"]] for ref in item.get("captions", ()))
    number = re.match(r"Table\s+([\dA-Z][\d.A-Z-]*?)[.:]?\s", caption)
    grid, head = grid_of(item["data"])
    columns = [
        " / ".join(dict.fromkeys(filter(None, texts))) for texts in zip(*grid[:head], strict=True)
    ]
    return Table(
        called=f"Table {number[1]}" if number else f"the table on page {page}",
        pages=[page],
        caption=" ".join(caption.split()) if number else "",
        columns=columns,
        rows=grid[head:],
        number=number[1] if number else "",
    )


def grid_of(data: dict[str, Any]) -> tuple[list[list[str]], int]:
    """Return the rows of a table in docling's JSON, and how many of them are its header."""
    grid = [[""] * data["num_cols"] for _ in range(data["num_rows"])]
    head = 0
    for cell in data["table_cells"]:
        for row in range(cell["start_row_offset_idx"], cell["end_row_offset_idx"]):
            for column in range(cell["start_col_offset_idx"], cell["end_col_offset_idx"]):
                grid[row][column] = " ".join(cell["text"].split())
        if cell.get("column_header"):
            head = max(head, cell["end_row_offset_idx"])
    return grid, head


def _margin(texts: dict[int, list[dict[str, Any]]], label: str) -> dict[int, str]:
    margins = {
        page: " ".join(item["text"] for item in items if item["label"] == label)
        for page, items in texts.items()
    }
    return {page: text for page, text in margins.items() if text}


def _tokens(text: str) -> list[str]:
    """Return the words of a text; what is joined by other signs ("A_B", "a/b") stays one."""
    return [word.casefold().strip(".,;:!?()[]\"'“”‘’") for word in text.split()]


# --- documents without ground truth -------------------------------------------------------------

_TABLES = Path(__file__).with_name("structural_tables.json")
#: Those that are known to have no other tables.
_ALL_KNOWN = ("nics", "word365", "pdf_structure", "scotus")
#: Notices in the report of `WARN`, by the ruled rows that begin with a date.
_NOTICES = 633


def _by_hand(file: Path) -> Facts:
    import pdfplumber

    words, texts, notices = {}, {}, []
    with pdfplumber.open(file) as pdf:
        for number, page in enumerate(pdf.pages, 1):
            words[number] = [[t for w in page.extract_words() for t in _tokens(w["text"])]]
            # Without the first and last lines, which may be header and footer.
            texts[number] = "\n".join((page.extract_text() or "").split("\n")[1:-1])
            if file.name.startswith("WARN"):
                notices += _notices(page)
    by_hand = json.loads(_TABLES.read_text(encoding="utf-8"))
    kind = next((kind for kind in by_hand if file.name.startswith(kind)), "")
    tables = [Table(**each) for each in by_hand.get(kind, [])]
    facts = Facts(file.stem, len(words), tables, words, texts)
    facts.tables_counted = kind in _ALL_KNOWN
    if kind == "WARN":
        facts.tables[0].rows, facts.tables[0].counted = notices, len(notices) == _NOTICES
    for table in facts.tables:
        table.known = [each for each in table.known if each[2] in texts[1]]
    return facts


def _notices(page: Any) -> list[list[str]]:
    """Return the ruled rows of a page of the report, but for the header and the summaries."""
    rows = [row for table in page.extract_tables() for row in table if len(row) == 7]
    dated = [row for row in rows if re.fullmatch(r"\d\d/\d\d/\d{4}", (row[0] or "").strip())]
    return [[" ".join((cell or "").split()) for cell in row] for row in dated]
