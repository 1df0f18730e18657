"""How much of PDF files' text, tables and cells the loader gets, against docling's ground truth.

    python benchmarks/pdf_extraction.py FOLDER

FOLDER has PDF files and, in `groundtruth/`, a JSON file of the same name for each. Measured are

- text recall: the share of the ground truth's words found on the same page, counted as often as
  they stand there, header and footer included (words are runs of letters and digits, case ignored);
- order: the longest common subsequence of the page's words, as a share of those of the ground
  truth's texts (without its tables, which it lists apart);
- table recall: the share of tables of which one of ours on the same page has more than half of the
  cell texts; precision is the share of ours so found;
- cell F1 over (row, column, text) of found tables, empty cells left out, the text of a merged cell
  in each place it covers, letters and digits only, after rows and columns were aligned in order so
  that most cells agree.
"""

import json
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import _common as common
import numpy as np
from _structural_truth import grid_of
from pypdfium2 import PdfDocument

from kgp_neo4j.corpus.load.pdf.document import read_pdf

Table = dict[tuple[int, int], str]
Texts = dict[int, list[str]]
#: What is counted for each figure, and of which counts it is a share (of two, of their mean).
SHARES = {
    "text recall": ("found", "words"),
    "order": ("ordered", "in_order"),
    "table recall": ("tables_found", "tables"),
    "table precision": ("tables_found", "ours"),
    "cell F1": ("aligned", "true_cells", "our_cells"),
}


def words(text: str) -> list[str]:
    """Return a text's words: runs of letters and digits, case and ligatures ignored."""
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def normal(text: str) -> str:
    """Return a cell's text for comparison."""
    return "".join(words(text))


def true_texts(truth: dict[str, Any], path: Path) -> tuple[Texts, Texts]:
    """Return the texts of each page outside tables, and those of cells; not white on white ones."""
    outside: Texts = {int(number): [] for number in truth["pages"]}
    cells: Texts = {number: [] for number in outside}
    pages = {number: page.render().to_numpy() for number, page in enumerate(PdfDocument(path), 1)}
    for item in truth["texts"]:
        for place in item["prov"][:1]:
            number = place["page_no"]
            left, low, right, high = (round(place["bbox"][side]) for side in "lbrt")
            height = len(pages[number])
            shown = pages[number][height - high : height - low, left:right]
            if not shown.size or np.ptp(shown) > 40:
                outside[number].append(item.get("orig") or item["text"])
    for table in truth["tables"]:
        page = table["prov"][0]["page_no"]
        cells[page] += [cell["text"] for cell in table["data"]["table_cells"]]
    return outside, cells


def cells_of(rows: Sequence[Sequence[str]]) -> Table:
    """Return the cells of a table's rows that have a text."""
    return {
        (r, c): text
        for r, texts in enumerate(rows)
        for c, cell in enumerate(texts)
        if (text := normal(cell))
    }


def longest_common(one: Sequence[str], two: Sequence[str]) -> int:
    """Return the length of the longest common subsequence (Hyyrö's bit-parallel way)."""
    masks: dict[str, int] = {}
    for at, word in enumerate(one):
        masks[word] = masks.get(word, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for word in two:
        hit = row & masks.get(word, 0)
        row = ((row + hit) | (row - hit)) & full
    return len(one) - row.bit_count()


def aligned(scores: list[list[int]]) -> dict[int, int]:
    """Return the pairs (row: column) of an alignment in order with the highest sum of scores."""
    height, width = len(scores), len(scores[0])
    best = [[0] * (width + 1) for _ in range(height + 1)]
    for i in range(height - 1, -1, -1):
        for j in range(width - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + scores[i][j])
    pairs, i, j = {}, 0, 0
    while i < height and j < width:
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            pairs[i] = j
            i, j = i + 1, j + 1
    return pairs


def agreeing(true: Table, ours: Table) -> int:
    """Return how many cells agree after aligning columns and rows, or as they are numbered."""
    strict = sum(ours.get(place) == text for place, text in true.items())

    def columns_of(table: Table) -> list[Counter[str]]:
        columns = [Counter[str]() for _ in range(max(c for _, c in table) + 1)]
        for (_, c), text in table.items():
            columns[c][text] += 1
        return columns

    theirs, own = columns_of(true), columns_of(ours)
    pairs = aligned([[(a & b).total() for b in own] for a in theirs])
    heights = [max(r for r, _ in table) + 1 for table in (true, ours)]
    scores = [
        [
            sum((i, a) in true and true[i, a] == ours.get((j, b)) for a, b in pairs.items())
            for j in range(heights[1])
        ]
        for i in range(heights[0])
    ]
    return max(strict, sum(scores[i][j] for i, j in aligned(scores).items()))


def measured(path: Path, truth: dict[str, Any]) -> Counter[str]:
    """Return all counts of one document."""
    began = time.monotonic()
    with path.open("rb") as file:
        document = read_pdf(file, path)
    took = round(1000 * (time.monotonic() - began))
    counts = Counter(milliseconds=took, pages=len(document.pages), ours=len(document.tables))
    outside, in_tables = true_texts(truth, path)
    for number, texts in outside.items():
        page = document.pages[number - 1]
        body = document.text[page.start : page.end]
        true = words(" ".join([*texts, *in_tables[number]]))
        ours = words(f"{page.header} {body} {page.footer}")
        counts.update(words=len(true), found=(Counter(true) & Counter(ours)).total())
        true = words(" ".join(texts))
        counts.update(in_order=len(true), ordered=longest_common(true, ours))
    left = [(table.row_pages, cells_of(table.rows)) for table in document.tables]
    for item in truth["tables"]:
        if not (true_table := cells_of(grid_of(item["data"])[0])):
            continue
        counts["tables"] += 1
        number, texts_ = item["prov"][0]["page_no"], Counter(true_table.values())
        shares = [
            (texts_ & Counter(ours_.values())).total() / len(true_table) if number in on else 0.0
            for on, ours_ in left
        ]
        if max(shares, default=0.0) > 0.5:
            _, table = left.pop(shares.index(max(shares)))
            counts.update(tables_found=1, true_cells=len(true_table), our_cells=len(table))
            counts["aligned"] += agreeing(true_table, table)
    return counts


def figures(name: str, counts: Counter[str]) -> list[object]:
    """Return the row of a document; None where there is nothing to count."""
    row: list[object] = [name, counts["pages"], counts["tables"]]
    for part, *whole in SHARES.values():
        total = sum(counts[each] for each in whole)
        row.append(f"{len(whole) * counts[part] / total:.4f}" if total else None)
    return [*row, f"{counts['milliseconds'] / 1000:.2f}"]


def main() -> None:
    """Print the figures of each document and of all."""
    parser = common.plain_parser(__doc__, "PDF files, with groundtruth/*.json beside them")
    options = parser.parse_args()
    counted = {}
    for path in sorted(options.folder.rglob("*.pdf")):
        truth = path.parent / "groundtruth" / f"{path.stem}.json"
        if truth.is_file():
            counted[path.name] = measured(path, json.loads(truth.read_text(encoding="utf-8")))
    if not counted:
        parser.error(f"no PDF file in {options.folder} has a JSON file in groundtruth/ beside it")
    counted["all"] = sum(counted.values(), Counter[str]())
    header = ("document", "pages", "tables", *SHARES, "seconds")
    print(common.markdown(header, [figures(*each) for each in counted.items()]))


if __name__ == "__main__":
    main()
