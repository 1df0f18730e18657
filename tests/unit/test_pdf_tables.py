"""Tables in PDF files: ruled, half ruled and open ones, captions, headers, page breaks."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.lib import colors
from small_pdfs import BOLD, LEVEL, OPEN, RULED, Page, pdf, prose, read

from kgp_neo4j.types.tables import SourceTable, Span

_SHIPS = [
    ["Ship", "Built", "Tons"],
    ["Alba", "1901", "4,500"],
    ["Borg", "1912", "5,250"],
    ["Cora", "1920", "3,100"],
    ["Dora", "1931", "6,075"],
]
_SPARSE = [["Action", "", ""], ["start", "X", ""], ["stop", "", "X"]]
_WIDTHS = [90, 70, 70]


def _tables(*draws) -> tuple[SourceTable, ...]:
    return read(pdf(*draws)).tables


def _joined(rows: list[list[str]]) -> list[list[str]]:
    return [[text.replace("\n", " ") for text in row] for row in rows]


def _with_prose(rows: Sequence[Sequence[str]], widths: Sequence[float], style, caption: str = ""):
    def draw(page: Page) -> None:
        end = page.text(72, 72, 460, prose(50)) + 14
        if caption:
            page.line(72, end + 8, caption)
            end += 14
        end = page.table(72, end, rows, widths, style)
        page.text(72, end + 20, 460, prose(50, 5))

    return draw


@pytest.mark.parametrize("style", [RULED, LEVEL, OPEN], ids=["ruled", "level", "open"])
def test_rows_and_columns(style) -> None:
    document = read(pdf(_with_prose(_SHIPS, _WIDTHS, style, "Table 3. Ships of the line")))
    (table,) = document.tables
    assert [list(row) for row in table.rows] == _SHIPS
    assert (table.header_rows, table.number) == (1, "3")
    assert table.caption == "Table 3. Ships of the line"
    assert set(table.row_pages) == {1}
    # The table stands in the text once, as Markdown, its caption before it.
    assert document.text.count("Alba") == 1
    before, after = document.text[: table.start], document.text[table.end :]
    assert before == f"{prose(50)}\n\n{table.caption}\n\n"
    assert after == f"\n\n{prose(50, 5)}\n\n"


def test_a_caption_below() -> None:
    def draw(page: Page) -> None:
        end = page.table(72, 72, _SHIPS, _WIDTHS, RULED)
        end = page.text(72, end + 6, 400, "Table A.2: Ships of the line, by year.")
        page.text(72, end + 20, 460, prose(60))

    (table,) = _tables(draw)
    assert (table.caption, table.number) == ("Table A.2: Ships of the line, by year.", "A.2")


def test_a_sentence_about_a_table_is_no_caption() -> None:
    (table,) = _tables(_with_prose(_SHIPS, _WIDTHS, RULED, "Table 3 shows the ships of the line."))
    assert table.caption == ""


def test_a_heading_stands_in_for_a_caption() -> None:
    def draw(page: Page) -> None:
        page.line(100, 80, "SHIPS OF THE LINE")
        page.table(72, 86, _SHIPS, _WIDTHS, RULED)

    (table,) = _tables(draw)
    assert (table.caption, table.number) == ("SHIPS OF THE LINE", "")


def test_two_tables_keep_their_own_captions() -> None:
    def draw(page: Page) -> None:
        end = page.table(72, 72, _SHIPS, _WIDTHS, LEVEL)
        page.line(72, end + 10, "Table 1: The first ships")
        end = page.table(72, end + 40, _SHIPS[:3], _WIDTHS, LEVEL)
        page.line(72, end + 10, "Table 2: The second ships")

    assert [(t.caption, len(t.rows)) for t in _tables(draw)] == [
        ("Table 1: The first ships", 5),
        ("Table 2: The second ships", 3),
    ]


def test_merged_cells_repeat_their_text() -> None:
    rows = [
        ["Ship", "Cost", "", "Crew"],
        ["", "new", "now", ""],
        ["Alba", "12", "3", "40"],
        ["Borg", "15", "4", "52"],
    ]
    merged = [("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1)), ("SPAN", (3, 0), (3, 1))]
    (table,) = _tables(_with_prose(rows, [80, 50, 50, 50], [*RULED, *merged]))
    assert table.rows == (
        ("Ship", "Cost", "Cost", "Crew"),
        ("Ship", "new", "now", "Crew"),
        ("Alba", "12", "3", "40"),
        ("Borg", "15", "4", "52"),
    )
    assert table.header_rows == 2
    assert set(table.spans) == {Span(0, 0, 2, 1), Span(0, 1, 1, 2), Span(0, 3, 2, 1)}


def test_two_header_levels_between_level_lines() -> None:
    rows = [
        ["Island", "Ferry", "", "Bridge", ""],
        ["", "Cost", "Time", "Cost", "Time"],
        ["Ness", "1.5", "20", "3.0", "5"],
        ["Orm", "2.5", "30", "4.0", "7"],
        ["Tarn", "3.1", "45", "5.5", "9"],
    ]
    style = [
        *(("SPAN", (at, 0), (at + 1, 0)) for at in (1, 3)),
        ("ALIGN", (1, 0), (-1, -1), "CENTER"),
        *LEVEL[::2],
        ("LINEBELOW", (1, 0), (2, 0), 0.5, colors.black),
        ("LINEBELOW", (3, 0), (4, 0), 0.5, colors.black),
        ("LINEBELOW", (0, 1), (-1, 1), 0.5, colors.black),
    ]
    (table,) = _tables(_with_prose(rows, [70, 40, 40, 40, 40], style))
    assert table.rows[0] == ("Island", "Ferry", "Ferry", "Bridge", "Bridge")
    assert table.rows[1][1:] == ("Cost", "Time", "Cost", "Time")
    assert [list(row) for row in table.rows[2:]] == rows[2:]
    assert table.header_rows == 2


def test_a_name_in_the_middle_of_columns_stands_over_all_of_them() -> None:
    rows = [
        ["", "human", "share of all (%)", "", ""],
        ["", "", "Train", "Test", "Val"],
        *([name, str(n), *(f"{n * at}.5" for at in (1, 2, 3))] for n, name in
          enumerate(("Caption", "Figure", "List", "Page", "Table", "Text", "Title"), 11)),
    ]  # fmt: skip
    style = [
        *LEVEL[::2],
        ("SPAN", (2, 0), (4, 0)),
        ("ALIGN", (1, 0), (-1, -1), "CENTER"),
        ("LINEBELOW", (0, 1), (-1, 1), 0.5, colors.black),
    ]
    (table,) = _tables(_with_prose(rows, [70, 50, 50, 50, 50], style))
    assert table.header_rows == 2
    assert table.rows[0] == ("", "human", *(["share of all (%)"] * 3))
    assert table.rows[1] == ("", "", "Train", "Test", "Val")
    assert [list(row) for row in table.rows[2:]] == rows[2:]


@pytest.mark.parametrize("style", [RULED, LEVEL], ids=["ruled", "level"])
@pytest.mark.parametrize("place", ["TOP", "MIDDLE", "BOTTOM"])
def test_lines_of_a_cell_are_joined(style, place: str) -> None:
    rows = [
        ["Island", "Harbour", "Notes"],
        ["Ness", "open all year", "the keeper lives\nhere since the bridge\nwas built"],
        ["Orm", "closed in winter", "no ferry"],
        ["Tarn", "open in summer", "merchants meet\nhere each spring"],
    ]
    style = [*style, ("VALIGN", (0, 0), (-1, -1), place)]
    (table,) = _tables(_with_prose(rows, [80, 100, 130], style))
    assert [list(row) for row in table.rows] == _joined(rows)


def test_text_on_its_side_is_read_upwards() -> None:
    def turned(page: Page) -> None:
        canvas = page.canvas
        for x in (72, 192, 222, 252):
            canvas.line(x, 700, x, 560)
        for y in (700, 600, 580, 560):
            canvas.line(72, y, 252, y)
        canvas.drawString(76, 690, "Action")
        for x, name in ((210, "QUERY ADMIN"), (240, "No Authority")):
            canvas.saveState()
            canvas.translate(x, 605)
            canvas.rotate(90)
            canvas.drawString(0, 0, name)
            canvas.restoreState()
        for at, row in enumerate(_SPARSE[1:]):
            for x, text in zip((76, 203, 233), row, strict=True):
                canvas.drawString(x, 585 - 20 * at, text)

    (table,) = _tables(turned)
    assert table.rows[0] == ("Action", "QUERY ADMIN", "No Authority")
    assert table.rows[1:] == (("start", "X", ""), ("stop", "", "X"))
    assert table.header_rows == 1


def test_a_heading_in_the_frame_is_the_caption_and_notes_are_text() -> None:
    rows = [["Ships of the line", "", ""], *_SHIPS, [prose(30), "", ""]]
    wide = [("SPAN", (0, at), (-1, at)) for at in (0, 6)]

    def draw(page: Page) -> None:
        page.table(36, 100, rows, [200, 170, 170], [*RULED, *wide], 6)

    document = read(pdf(draw))
    (table,) = document.tables
    assert [list(row) for row in table.rows] == _SHIPS
    assert table.caption == document.title == "Ships of the line"
    assert document.text.count(prose(30)) == 1


def test_a_table_in_a_column_of_text() -> None:
    def draw(page: Page) -> None:
        end = page.text(54, 80, 240, prose(150))
        end = page.text(54, end + 10, 240, "Table 1: Ships.")
        end = page.table(60, end + 4, _SHIPS, _WIDTHS, LEVEL)
        page.text(54, end + 14, 240, prose(120, 3))
        page.text(318, 80, 240, prose(330, 6))

    document = read(pdf(draw))
    (table,) = document.tables
    assert [list(row) for row in table.rows] == _SHIPS
    order = [document.text.index(p) for p in (prose(150), "Table 1:", prose(120, 3), prose(330, 6))]
    assert order == sorted(order)


def _long(header: bool, count: int = 3):
    rows = [[f"Ship {n}", str(1900 + n), str(100 * n)] for n in range(1, 1 + 8 * count)]

    def part(number: int):
        def draw(page: Page) -> None:
            page.line(72, 40, "Register of ships", 9)
            page.line(500, 40, str(number + 4), 9)
            if not number:
                page.line(72, 70, "Table 7. All ships")
            own = rows[8 * number : 8 * number + 8]
            shown = [_SHIPS[0], *own] if header or not number else own
            end = page.table(72, 80, shown, _WIDTHS, [*RULED, *(BOLD if header else [])])
            if number == count - 1:
                page.text(72, end + 20, 460, prose(40))

        return draw

    return rows, [part(number) for number in range(count)]


@pytest.mark.parametrize("header", [True, False], ids=["repeated header", "no header"])
def test_a_table_over_page_breaks_is_one(header: bool) -> None:
    rows, draws = _long(header)
    document = read(pdf(*draws))
    (table,) = document.tables
    assert [list(row) for row in table.rows] == [_SHIPS[0], *rows]
    assert table.header_rows == 1
    assert table.row_pages == (1,) + (1,) * 8 + (2,) * 8 + (3,) * 8
    first, second, _ = document.pages
    assert first.start <= table.start < table.end <= first.end
    assert "| Ship 8 |" in document.text[table.start : table.end]
    assert "| Ship 9 |" in document.text[second.start : second.end]
    assert "| Ship | Built | Tons |" in document.text[second.start : second.end]


def test_a_continued_caption_is_not_another_table() -> None:
    def first(page: Page) -> None:
        page.line(72, 600, "ESTIMATED COSTS")
        page.table(72, 606, _SHIPS[:3], _WIDTHS, RULED)

    def second(page: Page) -> None:
        page.line(72, 70, "ESTIMATED COSTS—Continued")
        end = page.table(72, 76, [_SHIPS[0], *_SHIPS[3:]], _WIDTHS, RULED)
        page.text(72, end + 20, 460, prose(40))

    (table,) = _tables(first, second)
    assert [list(row) for row in table.rows] == _SHIPS
    assert table.row_pages == (1, 1, 1, 2, 2)


def test_another_table_on_the_next_page_stays_another() -> None:
    def second(page: Page) -> None:
        page.line(72, 70, "Table 8. Other ships")
        page.table(72, 80, _SHIPS, _WIDTHS, RULED)

    first = _long(header=True, count=2)[1][0]
    assert [table.number for table in _tables(first, second)] == ["7", "8"]


def test_prose_code_lists_and_frames_are_no_tables() -> None:
    def columns(page: Page) -> None:
        for x in (54, 230, 406):
            page.text(x, 80, 160, prose(150, int(x)))

    def code(page: Page) -> None:
        page.canvas.line(72, 700, 400, 700)
        page.canvas.line(72, 600, 400, 600)
        lines = ["SELECT   name,", "         kind", "FROM     ships", "WHERE    id = 7"]
        for at, text in enumerate(lines):
            page.line(76, 110 + 14 * at, text, 9, "Courier")

    def numbered(page: Page) -> None:
        for at in range(8):
            page.line(72, 90 + 14 * at, f"{at + 1}.")
            page.line(100, 90 + 14 * at, prose(6, at))

    def framed(page: Page) -> None:
        page.canvas.rect(60, 400, 480, 340)
        page.text(72, 80, 450, prose(150))

    assert _tables(columns, code, numbered, framed) == ()


def test_a_chart_is_no_table_and_its_text_is_kept() -> None:
    def draw(page: Page) -> None:
        page.text(72, 60, 460, prose(30))
        page.canvas.rect(72, 400, 300, 200)
        for at in range(6):
            page.canvas.line(100, 420 + 30 * at, 360, 420 + 30 * at)
            page.canvas.drawString(76, 418 + 30 * at, f"{at}.0")
        path = page.canvas.beginPath()
        path.moveTo(100, 430)
        path.curveTo(150, 550, 250, 420, 360, 560)
        page.canvas.drawPath(path)

    document = read(pdf(draw))
    assert document.tables == ()
    assert "5.0" in document.text


def test_a_table_of_contents_has_entries_and_pages() -> None:
    entries = [("1 The first ferry", "3"), ("1.1 Its keeper", "4"), ("2 The bridge", "9"),
               ("3 The harbour", "14"), ("Index", "21")]  # fmt: skip

    def draw(page: Page) -> None:
        page.line(72, 60, "Contents", 16)
        for at, (entry, number) in enumerate(entries):
            page.line(72, 90 + 14 * at, f"{entry} {'. ' * 30}")
            page.line(420, 90 + 14 * at, number)

    (table,) = _tables(draw)
    assert table.rows == tuple(entries)
    assert (table.header_rows, table.caption) == (0, "Contents")


_DATA = Path(__file__).parents[1] / "data" / "pdfs"


@pytest.mark.parametrize(
    ("name", "size", "row", "column", "text"),
    [
        ("nics-background-checks-2015-11.pdf", (58, 25), "Texas", 24, "146,982"),
        ("ag-energy-round-up-2017-02-24.pdf", (42, 5), "Grass", 2, "59.17"),
        ("pdf_structure.pdf", (3, 2), "Chose 2", 1, "Truc 2"),
    ],
)
def test_published_pdfs(name: str, size: tuple[int, int], row: str, column: int, text: str) -> None:
    table = read((_DATA / name).read_bytes(), name).tables[0]
    assert (len(table.rows), len(table.rows[0])) == size
    assert [texts[column] for texts in table.rows if row in texts] == [text]


_STATEMENT = [
    ["", "2023", "2022"],
    ["Revenue", "12,450", "11,020"],
    ["Cost of sales", "(7,310)", "(6,880)"],
    ["Gross profit", "5,140", "4,140"],
    ["Other (losses)/gains", "(36)", "12"],
]
_WRAPPED = [
    ["Measure", "Purpose", "Cost"],
    ["Dredging of the\nnorth channel", "Deeper water for\nlarger ferries", "1,200"],
    ["New light", "Safer entry\nat night", "340"],
    ["Quay repair", "Holds the wall\nagainst the\nwinter ice", "95"],
]
_LINE = (1, colors.black)
_SUMS = [("LINEABOVE", (1, 3), (-1, 3), *_LINE), ("LINEBELOW", (1, -1), (-1, -1), *_LINE)]
_BELOW = [("LINEBELOW", (0, row), (-1, row), *_LINE) for row in (0, -1)]
_GROUP = [
    ("BOX", (0, 0), (-1, -1), *_LINE),
    ("INNERGRID", (0, 0), (-1, 0), *_LINE),
    *(("LINEBEFORE", (at, 0), (at, -1), *_LINE) for at in (1, 2)),
    *(("LINEBELOW", (0, at), (-1, at), *_LINE) for at in (0, 2)),
]


@pytest.mark.parametrize(
    ("rows", "style"),
    [
        (_STATEMENT, _SUMS),
        (_SHIPS, _BELOW),
        (_WRAPPED, [("VALIGN", (0, 0), (-1, -1), "TOP")]),
        (_WRAPPED, [("VALIGN", (0, 0), (-1, -1), "BOTTOM")]),
        (_SHIPS, _GROUP),
        (_SPARSE, RULED),
    ],
    ids=["sums", "header above the first line", "top", "bottom", "group of rows", "sparse"],
)
def test_tables_are_whole(rows: list[list[str]], style) -> None:
    widths = [120, 30, 30] if rows is _SPARSE else [130, 130, 60]
    (table,) = _tables(_with_prose(rows, widths, style))
    assert [list(row) for row in table.rows] == _joined(rows)
    assert table.header_rows == 1
