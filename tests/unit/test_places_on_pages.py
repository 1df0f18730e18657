"""Where words stand on the page of a PDF: what is found, and that it is where the ink is."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_pdfs import RULED, Page, pdf, prose, read, written

from kgp_neo4j.show.page_pictures import describe_page, draw_page, plain_letters, read_letters
from kgp_neo4j.types.errors import CorpusError

_DATA = Path(__file__).parents[1] / "data" / "pdfs"


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_the_boxes_hold_the_ink(turn: int) -> None:
    content = "BT /F 30 Tf 150 400 Td (The ferry to) Tj 0 -60 Td (Sund is far) Tj ET"
    data = written(content, page=f"/CropBox[100 200 500 600]/Rotate {turn}")
    ink = np.asarray(Image.open(BytesIO(draw_page(data, 1, 2.0))).convert("L")) < 128
    assert ink.shape == (800, 800)
    boxes = read_letters(data, 1).locate("The ferry to Sund is far")
    assert len(boxes) == 2 or turn in (90, 270)
    for x0, top, x1, bottom in boxes:
        inside = ink[round(2 * top) : round(2 * bottom), round(2 * x0) : round(2 * x1)]
        assert inside.any()
        inside[:] = False
    assert not ink.any()


def test_a_sentence_is_found_over_lines_and_columns() -> None:
    def draw(page: Page) -> None:
        page.text(60, 80, 220, prose(80))
        page.line(320, 90, "The naïve light-")
        page.line(320, 102, "house keeper of Sund left in 1871.")

    letters = read_letters(pdf(draw), 1)
    boxes = letters.locate("the NAIVE lighthouse keeper\nof Sund left in 1871")
    assert len(boxes) == 2
    assert all(320 <= box.x0 < box.x1 <= 545 for box in boxes)
    # A word that the page has not: what stands before and after it is found; too little is not.
    partly = letters.locate("The naive lighthouse keeper of Marstal and Sund left in 1871")
    assert partly[0].top == boxes[0].top
    assert not letters.locate("The naive captain never returned to Marstal from the wide ocean")
    assert not letters.locate("...")


def test_a_cell_is_found_in_its_row() -> None:
    rows = [
        ["Town", "1901", "1902"],
        ["Sund", "12", "40"],
        ["Moss", "12", "41"],
        ["Lund", "40", "12"],
    ]

    def draw(page: Page) -> None:
        page.line(60, 60, "Lund and Moss have boats.")
        page.line(60, 80, "There are 40 at most, and 12 in June.")
        page.table(60, 100, rows, [80, 80, 80], RULED)

    data = pdf(draw)
    letters = read_letters(data, 1)
    stored = {"pages": 1, "label": "", "recognised": False, "start": 0, "end": 1, "passages": []}
    for row in rows[1:]:
        made = describe_page(data, 1, stored, "", row[:2], False)
        (name,), (cell,) = (mark["boxes"] for mark in made["marks"])
        assert name.top == cell.top > 100
        assert 140 < cell.x0 < 220
    assert len(letters.places("12")) == 4

    # Text that was recognised has no place in the file.
    scanned = describe_page(data, 1, stored | {"recognised": True}, "", ["12"], True)
    assert (scanned["marks"], scanned["parts"], scanned["recognised"]) == ([], [], True)


def test_nearly_all_lines_of_real_files_are_found() -> None:
    found: list[bool] = []
    for path in _DATA.glob("*.pdf"):
        data = path.read_bytes()
        document = read(data)
        for page in document.pages:
            letters = read_letters(data, page.number)
            lines = document.text[page.start : page.end].splitlines()
            found += [bool(letters.locate(each)) for each in lines if plain_letters(each)]
    assert len(found) > 100
    assert sum(found) >= 0.97 * len(found)


def test_a_damaged_file_and_a_page_that_is_not_there() -> None:
    with pytest.raises(CorpusError, match="page 1 cannot be shown"):
        draw_page(b"%PDF-1.7\nnothing", 1, 1.0)
    with pytest.raises(CorpusError, match="page 2 cannot be shown"):
        read_letters(written(""), 2)
