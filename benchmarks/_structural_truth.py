"""What is on the pages and in the tables of the sample PDFs, found without this project's loader.

Documents with ground truth are read from docling's JSON. For the others the facts below were read
off the pages by eye, and words and rows are counted with pdfplumber directly.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Facts", "Table", "facts_of", "squeezed"]


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


_WORD = re.compile(r"[^\W_]+")


def squeezed(text: str) -> str:
    """Return a text as answers are compared: letters and digits in lower case, nothing else."""
    return "".join(_WORD.findall(text.casefold()))


def facts_of(folder: Path) -> list[Facts]:
    """Return the facts of all documents that are there; `folder` is data/pdfs."""
    found = [
        _docling(file, folder) for file in sorted((folder / "docling/groundtruth").glob("*.json"))
    ]
    return found + [
        facts for facts in map(_by_hand, sorted((folder / "pdfplumber").glob("*.pdf"))) if facts
    ]


# --- docling's ground truth ---------------------------------------------------------------------


def _docling(file: Path, folder: Path) -> Facts:
    data = json.loads(file.read_text(encoding="utf-8"))
    texts: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for item in data["texts"]:
        for place in item.get("prov", ()):
            texts[place["page_no"]].append(item)
    captions = {item["self_ref"]: item["text"] for item in data["texts"]}
    tables = []
    numbers = sorted(int(number) for number in data["pages"])
    held: dict[int, list[str]] = defaultdict(list)
    for item in data["tables"]:
        page = item["prov"][0]["page_no"]
        caption = " ".join(captions[ref["$ref"]] for ref in item.get("captions", ()))
        grid, head = _grid(item["data"])
        held[page] += [text for row in grid for text in row]
        number = re.match(r"Table\s+([\dA-Z][\d.A-Z-]*?)[.:]?\s", caption)
        columns = [
            " / ".join(dict.fromkeys(text for text in (row[c] for row in grid[:head]) if text))
            for c in range(item["data"]["num_cols"])
        ]
        tables.append(
            Table(
                called=f"Table {number[1]}" if number else f"the table on page {page}",
                pages=[page],
                caption=" ".join(caption.split()) if number else "",
                columns=columns if head else [],
                rows=grid[head:],
                number=number[1] if number else "",
            )
        )
    body = {
        page: [item for item in items if item.get("content_layer", "body") == "body"]
        for page, items in texts.items()
    }
    lone = [t for t in tables if sum(t.pages == other.pages for other in tables) == 1]
    return Facts(
        name=file.stem,
        page_count=len(numbers),
        tables=[t for t in tables if t.number or t in lone],
        words={
            n: [_tokens(i["text"]) for i in body.get(n, [])] + [_tokens(t) for t in held.get(n, [])]
            for n in numbers
        },
        texts={n: "\n".join(i["text"] for i in body.get(n, [])) for n in numbers},
        header=_margin(texts, "page_header"),
        footer=_margin(texts, "page_footer"),
        headings={
            page: [i["text"] for i in items if i["label"] in ("section_header", "title")]
            for page, items in body.items()
        },
        # A table of contents and a listing are tables in docling's eyes.
        tables_counted=all(t.number or len(tables) == 1 for t in tables),
    )  # fmt: skip


def _grid(data: dict[str, Any]) -> tuple[list[list[str]], int]:
    grid = [[""] * data["num_cols"] for _ in range(data["num_rows"])]
    head = 0
    for cell in data["table_cells"]:
        for row in range(cell["start_row_offset_idx"], cell["end_row_offset_idx"]):
            for column in range(cell["start_col_offset_idx"], cell["end_col_offset_idx"]):
                # Bullets that docling reads as the name of their glyph are no text.
                said = re.sub(r"\bSM\d{6}\b", " ", cell["text"])
                grid[row][column] = " ".join(said.split())
        if cell.get("column_header"):
            head = max(head, cell["end_row_offset_idx"])
    return grid, head


def _margin(texts: dict[int, list[dict[str, Any]]], label: str) -> dict[int, str]:
    made = {
        page: " ".join(item["text"] for item in items if item["label"] == label)
        for page, items in texts.items()
    }
    return {page: text for page, text in made.items() if text}


def _tokens(text: str) -> list[str]:
    """Return the words of a text; what is joined by other signs ("A_B", "a/b") stays one."""
    return [word.casefold().strip(".,;:!?()[]\"'“”‘’") for word in text.split()]


# --- documents without ground truth -------------------------------------------------------------


def _by_hand(file: Path) -> Facts | None:
    import pdfplumber

    with pdfplumber.open(file) as pdf:
        count = len(pdf.pages)
        words = {
            number: [[t for w in page.extract_words() for t in _tokens(w["text"])]]
            for number, page in enumerate(pdf.pages, 1)
        }
        # Without the first and last lines, which may be header and footer.
        texts = {
            number: "\n".join((page.extract_text() or "").split("\n")[1:-1])
            for number, page in enumerate(pdf.pages, 1)
        }
        rows = _warn(pdf) if file.name.startswith("WARN") else []
    made = Facts(file.stem, count, [], words, texts, tables_counted=False)
    if file.name.startswith("WARN"):
        columns = ["Notice Date", "Effective", "Received", "Company", "City", "No. Of",
                   "Layoff/Closure"]  # fmt: skip
        made.tables = [Table("the first table", [*range(1, 16)], "", columns, rows)]
        made.tables[0].counted = len(rows) == 633  # ruled rows that begin with a date
    elif file.name.startswith("nics"):
        known = [("Alabama", "Permit", "18,870"), ("Kentucky", "Permit", "265,982")]
        text = texts[1]
        known = [k for k in known if k[2] in text]
        made.tables = [Table("the table", [1], "", [], [], known=known, counted=False)]
        made.tables_counted = True
    elif file.name.startswith("word365"):
        rows = [["Ligne 1", "Alouette", "Farfadet"], ["Linge 2", "Belette", "Bibitte"]]
        columns = ["En-tête 1", "En-tête 2", "En-tête 3"]
        made.tables = [Table("the table", [1], "", columns, rows)]
        made.tables_counted = True
    elif file.name.startswith("pdf_structure"):
        rows = [["Chose 1", "Truc 1"], ["Chose 2", "Truc 2"]]
        made.tables = [Table("the table", [1], "", ["Chose", "Truc"], rows)]
        made.tables_counted = True
    elif file.name.startswith("federal-register"):
        columns = ["Action", "Labor cost", "Parts cost", "Cost per product",
                   "Cost on U.S. operators"]  # fmt: skip
        hour = ["1 work-hour × $85 per hour = $85", "$0", "$85", "$6,205"]
        rows = [
            ["FCC OPS installation and verification", *hour],
            ["AFM revisions", *hour],
            ["MDS installation and verification, INOP marker removal", *hour],
            ["Stabilizer wiring change", "Up to 79 work-hours × $85 per hour = Up to $6,715",
             "Up to $3,790", "Up to $10,505", "Up to $766,865"],
            ["AOA sensor system test", "40 work-hours × $85 per hour = $3,400", "$0", "$3,400",
             "$248,200"],
        ]  # fmt: skip
        made.tables = [Table("the first table", [5, 6], "", columns, rows)]
    elif file.name.startswith("scotus"):
        made.tables_counted = True
    return made


def _warn(pdf: Any) -> list[list[str]]:
    """Return the notices of the report: its ruled rows, but for the header and the summaries."""
    made = []
    for page in pdf.pages:
        for table in page.extract_tables():
            for row in table:
                if len(row) == 7 and re.fullmatch(r"\d\d/\d\d/\d{4}", (row[0] or "").strip()):
                    made.append([" ".join((cell or "").split()) for cell in row])
    return made
