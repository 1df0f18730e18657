"""How much of files with known contents the loader gets: text, cells, nothing hidden, and MB/s.

    python benchmarks/formats.py [FOLDER]

One invented report (headings, paragraphs, tables, parts that are hidden) is written in several
formats. `text` is the share of its words that are read, `cells` that of its cells in the right row
and column, `hidden` the number of hidden words that are read (right is 0); MB/s counts what packed
files unpack to, best of three. FOLDER has `tables_csv.tar.gz` of WikiTableQuestions.
"""

import argparse
import csv
import io
import random
import re
import tarfile
import tempfile
import time
import zipfile
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.text.visible import seen

_WORDS = "harbour ferry Größe keeper Ålesund dues pilot naïve tide rope Łódź mast Ærø quay".split()
_HIDING = ("hidden", "class=off", "style='visibility:hidden'", "aria-hidden=true")
_BOOK = "<p><manifest><item id='a' href='a'/></manifest><spine><itemref idref='a'/></spine></p>"


def report(sections: int) -> list[tuple[str, Any]]:
    """Return an invented report: kind, and text or rows; hidden words begin with "zz"."""
    draw = random.Random(0)

    def words(count: int, begin: str = "") -> str:
        return " ".join(f"{begin}{draw.choice(_WORDS)}{draw.randint(0, 999)}" for _ in range(count))

    blocks: list[tuple[str, Any]] = [("h1", words(3))]
    for _ in range(sections):
        blocks += [("h2", words(3)), ("p", words(60)), ("hidden", words(4, "zz")), ("p", words(40))]
        rows = [(words(2), f"{draw.randint(1000, 9999):,}", f"{draw.random():.1%}") for _ in _WORDS]
        blocks.append(("table", [(words(1), words(1), words(1)), *rows]))
    return blocks


def as_page(blocks: list[tuple[str, Any]]) -> str:
    """Return a report as HTML."""
    parts = ["<!doctype html><style>.off{display:none}</style><body>"]
    for at, (kind, value) in enumerate(blocks):
        if kind == "table":
            rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in value)
            parts.append(f"<table><tr>{'</tr><tr>'.join(rows)}</tr></table>")
        else:
            tag = f"p {_HIDING[at % 4]}" if kind == "hidden" else kind
            parts.append(f"<{tag}>{escape(value)}</{tag.split()[0]}>")
    return "\n".join(parts)


def packed(blocks: list[tuple[str, Any]], kind: str) -> bytes:
    """Return a report as the bytes of a file of a kind."""
    file = io.BytesIO()
    if kind == ".epub":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
            package.writestr("META-INF/container.xml", "<c><r full-path='b.opf'/></c>")
            package.writestr("b.opf", _BOOK)
            package.writestr("a", as_page(blocks))
    elif kind == ".docx":
        from docx import Document

        made: Any = Document()
        for what, value in blocks:
            if what == "table":
                table = made.add_table(len(value), 3)
                for at, text in enumerate(text for row in value for text in row):
                    table.cell(at // 3, at % 3).text = text
            else:
                style = f"Heading {what[1]}" if what in ("h1", "h2") else None
                made.add_paragraph(style=style).add_run(value).font.hidden = what == "hidden"
        made.save(file)
    elif kind == ".xlsx":
        from openpyxl import Workbook

        made = Workbook()
        for _, (names, *rows) in (block for block in blocks if block[0] == "table"):
            sheet = made.create_sheet()
            sheet.append(names)
            for at, (name, count, share) in enumerate(rows, 2):
                sheet.append([name, int(count.replace(",", "")), float(share[:-1]) / 100])
                sheet.cell(at, 2).number_format = "#,##0"
                sheet.cell(at, 3).number_format = "0.0%"
            sheet.append(["zzhidden"])
            sheet.row_dimensions[sheet.max_row].hidden = True
        made.save(file)
    return as_page(blocks).encode() if kind == ".html" else file.getvalue()


def measured(path: Path, blocks: list[tuple[str, Any]]) -> str:
    """Return the figures of a file."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        document: Any = next(iter(read(path, bar("", None))))
        seconds.append(time.perf_counter() - began)
    said = [value for what, value in blocks if what in ("h1", "h2", "p") and path.suffix != ".xlsx"]
    wanted, found = (Counter(re.findall(r"\w+", text)) for text in (" ".join(said), document.text))
    text = f"{(wanted & found).total() / wanted.total():8.4f}" if said else " " * 8
    tables = [value for what, value in blocks if what == "table"]
    rows = [row for table in tables for row in table]
    ours = [row for table in document.tables for row in table.rows]
    cells = (zip(row, mine, strict=False) for row, mine in zip(rows, ours, strict=False))
    right = sum(one == other for pair in cells for one, other in pair)
    parts = zipfile.ZipFile(path).infolist() if zipfile.is_zipfile(path) else ()
    size = sum(part.file_size for part in parts) or path.stat().st_size
    hidden = sum(word.startswith("zz") for word in found)
    speed = size / 1e6 / min(seconds)
    return f"{path.suffix:8}{text}{right / 3 / len(rows):8.4f}{hidden:8}{speed:8.2f}"


def wiki_tables(folder: Path, path: Path) -> str:
    """Return the share of the cells of WikiTableQuestions' tables that are read, and the speed."""
    right = total = size = 0
    seconds = 0.0
    with tarfile.open(folder / "tables_csv.tar.gz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is None or not member.name.endswith(".csv"):
                continue
            path.write_bytes(data := file.read())
            began = time.perf_counter()
            document: Any = next(iter(read(path, bar("", None))))
            seconds += time.perf_counter() - began
            rows = csv.reader(io.StringIO(data.decode()), escapechar="\\", doublequote=False)
            wanted = Counter(" ".join(seen(cell).split()) for row in rows for cell in row)
            found = [row for table in getattr(document, "tables", ()) for row in table.rows]
            ours = Counter(" ".join(cell.split()) for row in found for cell in row)
            del wanted[""]
            size, total = size + len(data), total + wanted.total()
            right += (ours & wanted).total()
    return f".csv    {'':8}{right / total:8.4f}{'':8}{size / 1e6 / seconds:8.2f}"


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", nargs="?", type=Path)
    folder = arguments.parse_args().folder
    print(f"{'format':8}{'text':>8}{'cells':>8}{'hidden':>8}{'MB/s':>8}")
    with tempfile.TemporaryDirectory() as kept:
        for kind in (".html", ".epub", ".docx", ".xlsx"):
            path = Path(kept, f"report{kind}")
            path.write_bytes(packed(report(40), kind))
            print(measured(path, report(40)))
        if folder:
            print(wiki_tables(folder, Path(kept, "table.csv")))
