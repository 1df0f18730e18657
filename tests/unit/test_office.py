"""Word, Excel and PowerPoint files: tables, sheets, slides; files that are not what they say."""

import datetime as dt
import io
import re
import struct
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from docx.oxml import parse_xml
from docx.shared import RGBColor
from graphs import write_file
from openpyxl import Workbook
from openpyxl.chart import BarChart
from openpyxl.comments import Comment
from openpyxl.styles import Color, Font
from PIL import Image, ImageDraw, ImageFont
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from reading_files import read_one, told_without
from zips import pack, unpack

from kgp_neo4j.corpus.load.contents import column_names, markdown
from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.corpus.load.sheets import shown_value
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import Span


def _bytes(made: Any, *kind: str) -> bytes:
    file = io.BytesIO()
    made.save(file, *kind)
    return file.getvalue()


def _word() -> Any:
    made = Document()
    made.core_properties.title = "Rain in two towns"
    made.add_heading("Rain", 1)
    made.add_paragraph("Text with a_b_c, 2*3*4 and | before.")
    made.add_paragraph("Table 1: Rain by month", style="Caption")
    table = made.add_table(5, 3)
    for r in range(5):
        for c in range(3):
            table.cell(r, c).text = f"{r}.{c}5" if r > 1 and c else f"r{r}c{c}"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Rain | mm"
    table.cell(0, 0).merge(table.cell(1, 0)).text = "Town"
    table.cell(2, 0).merge(table.cell(3, 0)).text = "Bergen *both*"
    made.add_paragraph("After.")
    return made


def test_word(tmp_path: Path) -> None:
    document = read_one(tmp_path / "a.docx", _bytes(_word()))
    assert (document.title, document.pages, document.left_out) == ("Rain in two towns", (), ())
    [table] = document.tables
    assert table.rows == (
        ("Town", "Rain | mm", "Rain | mm"),
        ("Town", "r1c1", "r1c2"),
        ("Bergen *both*", "2.15", "2.25"),
        ("Bergen *both*", "3.15", "3.25"),
        ("r4c0", "4.15", "4.25"),
    )
    assert set(table.spans) == {Span(0, 0, 2, 1), Span(0, 1, 1, 2), Span(2, 0, 2, 1)}
    assert (table.header_rows, table.number) == (2, "1")
    assert column_names(table) == ["Town", "Rain | mm / r1c1", "Rain | mm / r1c2"]
    assert table.caption == "Table 1: Rain by month"
    assert document.text == (
        "Rain\n\nText with a_b_c, 2*3*4 and | before.\n\nTable 1: Rain by month\n\n"
        f"{markdown(table)}\n\nAfter."
    )
    assert document.text[table.start : table.end] == markdown(table)


def test_titles(tmp_path: Path) -> None:
    made = Document()
    made.core_properties.title = "Microsoft Word - draft.docx"
    made.add_heading("The real one", 0)
    made.add_heading("A section", 1)
    document = read_one(tmp_path / "a.docx", _bytes(made))
    assert document.title == "The real one"
    assert [(s.title, s.level, s.start) for s in document.sections] == [
        ("The real one", 1, 0),
        ("A section", 1, len("The real one\n\n")),
    ]
    made = Document()
    made.add_paragraph("Only text.")
    assert read_one(tmp_path / "my_notes.docx", _bytes(made)).title == "my notes"


_LEVEL = (
    '<w:lvl w:ilvl="{}"><w:start w:val="{}"/><w:numFmt w:val="{}"/>'
    '<w:lvlText w:val="{}"/>{}</w:lvl>'
)
_NUMBERING = "".join(
    (
        '<w:abstractNum w:abstractNumId="70">',
        _LEVEL.format(0, 1, "upperRoman", "%1.", '<w:pStyle w:val="Heading1"/>'),
        _LEVEL.format(1, 1, "decimal", "%1.%2", "<w:isLgl/>"),
        _LEVEL.format(2, 26, "lowerLetter", "(%3)", '<w:lvlRestart w:val="1"/>'),
        _LEVEL.format(3, 9999999, "lowerRoman", "§ %4%9", ""),
        _LEVEL.format(4, 1, "bullet", "•", ""),
        '</w:abstractNum><w:abstractNum w:abstractNumId="71"><w:numStyleLink w:val="A"/>',
        '</w:abstractNum><w:num w:numId="70"><w:abstractNumId w:val="70"/></w:num>',
        '<w:num w:numId="71"><w:abstractNumId w:val="70"/><w:lvlOverride w:ilvl="1">',
        '<w:startOverride w:val="7"/></w:lvlOverride></w:num>',
        '<w:num w:numId="72"><w:abstractNumId w:val="71"/></w:num>',
    )
)


def test_numbers_of_word(tmp_path: Path) -> None:
    made = Document()
    styles = made.styles
    for name, base, number in (("A", None, 72), ("B", "A", None), ("Heading 1", None, 70)):
        style = styles[name] if name in styles else styles.add_style(name, 1)
        style.base_style = styles[base] if base else None
        if number:
            given = f'<w:numPr {_W}><w:numId w:val="{number}"/></w:numPr>'
            style.element.get_or_add_pPr().append(parse_xml(given))
    lists = made.part.numbering_part.element
    for node in parse_xml(f"<w:a {_W}>{_NUMBERING}</w:a>"):
        lists.append(node)
    for text, style, number, level in (
        ("Parties", "Heading 1", None, 0), ("Landlord", None, 70, 1), ("Edda", None, 70, 2),
        ("Ole", None, 70, 2), ("Tenant", None, 70, 1), ("Per", None, 70, 2), ("", None, 70, 2),
        ("Rent", "Heading 1", None, 0), ("Amount", None, 70, 1), ("Eli", None, 70, 2),
        ("Again", None, 71, 1), ("After", None, 71, 1), ("Far", None, 70, 3),
        ("Dot", None, 70, 4), ("None", "Heading 1", 0, 0), ("Circle", "B", None, 0),
        ("Lost", None, 99, 0),
    ):  # fmt: skip
        paragraph = made.add_paragraph(text, style)
        if number is not None:
            given = f'<w:ilvl w:val="{level}"/><w:numId w:val="{number}"/>'
            of = paragraph._p.get_or_add_pPr()
            of.append(parse_xml(f"<w:numPr {_W}>{given}</w:numPr>"))
    outer = made.add_table(2, 3)
    for cell, text in zip(outer._cells, ("Who", "Fare", "Back", "Car", "40", "70"), strict=True):
        cell.text = text
    inner = outer.cell(1, 0).add_table(2, 2)
    for cell, text in zip(inner._cells, ("short", "30", "long", "50"), strict=True):
        cell.text = text
    document = read_one(tmp_path / "a.docx", _bytes(made))
    text, *_ = document.text.partition("\n\n| Who")
    assert [line for line in text.split("\n") if line] == [
        "I. Parties", "1.1 Landlord", "(z) Edda", "(aa) Ole", "1.2 Tenant", "(bb) Per",
        "II. Rent", "2.1 Amount", "(z) Eli", "2.7 Again", "2.8 After", "§ 9999999 Far", "Dot",
        "None", "Circle", "Lost",
    ]  # fmt: skip
    assert [section.title for section in document.sections][:2] == ["I. Parties", "II. Rent"]
    assert [table.rows for table in document.tables] == [
        (("Who", "Fare", "Back"), ("Car", "40", "70")),
        (("short", "30"), ("long", "50")),
    ]
    assert document.tables[1].caption == "Car"
    parts = unpack(_bytes(made))
    parts["word/document.xml"] = parts["word/document.xml"].replace(
        b"</w:body>", f"<w:odd><w:r {_W}><w:t>What is lost</w:t></w:r></w:odd></w:body>".encode()
    )
    document = read_one(tmp_path / "b.docx", pack(parts))
    assert document.left_out == ("words that are in no text: 3 (What, is, lost)",)


_UNSOLVED = (
    'sheet "Other": 1 formulas without a stored result (open and save it in a spreadsheet program)'
)


def _excel() -> Any:
    made = Workbook()
    sheet = made.active
    sheet.title = "Sales 2020"
    sheet["B2"] = "Table 4. Sales by region"
    sheet.merge_cells("B2:G2")
    sheet.append([])
    sheet.append([None, "Region", "Sold", None, "Since", "Share", "Price"])
    sheet.append([None, None, "May", "June"])
    sheet.merge_cells("C4:D4")
    for column in "BEFG":
        sheet.merge_cells(f"{column}4:{column}5")
    sheet.append([None, "North", 1200, 0.1 + 0.2, dt.datetime(2019, 3, 1), 0.453, 12.5])
    sheet.append([None, None, 7, -3.0, dt.datetime(2019, 3, 2, 12, 30), 1, 13])
    sheet.merge_cells("B6:B7")
    for row in (6, 7):
        sheet[f"F{row}"].number_format = "0.0%"
        sheet[f"G{row}"].number_format = '"$"#,##0.00'
    made.create_sheet("Empty")
    other = made.create_sheet("Other")
    for line in (["id", "ok", "code"], ["x|y", True, 7], ["z", "=A1", 8]):
        other.append(line)
    other["C2"].number_format = "00000"
    return made


def test_excel(tmp_path: Path) -> None:
    document = read_one(tmp_path / "my_sales.xlsx", _bytes(_excel()))
    assert document.title == "my sales"
    sales, other = document.tables
    assert (sales.caption, sales.number) == ("Sales 2020: Table 4. Sales by region", "4")
    assert sales.header_rows == 2
    names = "Region, Sold / May, Sold / June, Since, Share, Price"
    assert column_names(sales) == names.split(", ")
    assert sales.rows[2:] == (
        ("North", "1200", "0.3", "2019-03-01", "45.3%", "$12.50"),
        ("North", "7", "-3", "2019-03-02 12:30:00", "100.0%", "$13.00"),
    )
    assert Span(0, 1, 1, 2) in sales.spans
    assert Span(2, 0, 2, 1) in sales.spans
    assert (other.caption, other.number, other.header_rows) == ("Other", "", 1)
    assert other.rows == (("id", "ok", "code"), ("x|y", "TRUE", "00007"), ("z", "", "8"))
    assert document.text == (f"{sales.caption}\n\n{markdown(sales)}\n\nOther\n\n{markdown(other)}")
    for table in document.tables:
        assert document.text[table.start : table.end] == markdown(table)
    assert document.left_out == (_UNSOLVED,)


def test_several_tables_on_a_sheet(tmp_path: Path) -> None:
    made = Workbook()
    sheet = made.active
    sheet.title = "All"
    two = [["Town", "Rain", None, "Kind", "Count"], ["A", 1.5, None, "x", 3]]
    one = [["Part", "May", "June"], ["p", "5%", "6%"], [], ["Source: measured"]]
    for row in (["Two towns"], *two, ["B", 2.5, None, "y", 4], [], *one):
        sheet.append(row)
    sheet.merge_cells("A1:E1")
    other = made.create_sheet("Parts")
    for row in (["Item", "Price"], ["a", 1], [], ["Section", None], ["b", 2], [], [None, "c", 3]):
        other.append(row)
    document = read_one(tmp_path / "a.xlsx", _bytes(made))
    end = (("b", "2", ""), ("", "c", "3"))
    assert [(t.caption, t.rows) for t in document.tables] == [
        ("All: Two towns", (("Town", "Rain"), ("A", "1.5"), ("B", "2.5"))),
        ("All: Two towns", (("Kind", "Count"), ("x", "3"), ("y", "4"))),
        ("All: 3", (("Part", "May", "June"), ("p", "5%", "6%"), ("Source: measured", "", ""))),
        ("Parts", (("Item", "Price", ""), ("a", "1", ""), ("Section", "", ""), *end)),
    ]
    assert [t.header_rows for t in document.tables] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("value", "format_", "expected"),
    [
        (-1234.5, "$#,##0.00_);($#,##0.00)", "-$1,234.50"),
        (12, "[$€-407] #,##0.00", "€ 12.00"),
        (12, '_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-', "12.00 €"),
        (12.3, "#,##0.00 [$USD]", "12.30 USD"),
        (3, '0" kg"', "3 kg"),
        (2.675, "0.00", "2.68"),
        (-0.001, "0.00", "0.00"),
        (1234567, '#,##0.0,,"M"', "1234567"),
        (12345, "0.00E+00", "12345"),
        (45, '0"%"', "45%"),
        (1.5, "0.0##", "1.5"),
        (0.5, "# ?/?", "0.5"),
        (1e20, "General", "1e+20"),
        (float("nan"), "0", "nan"),
        (1, "[Red]0.0;[Blue]-0.0", "1.0"),
        (dt.time(9, 30), "", "09:30:00"),
        (dt.timedelta(days=1.5), "[h]:mm", "36:00:00"),
        (dt.timedelta(seconds=-90), "[h]:mm", "-0:01:30"),
        (None, "", ""),
    ],
)
def test_values_as_a_sheet_shows_them(value: Any, format_: str, expected: str) -> None:
    assert shown_value(value, format_) == expected


def _old_excel() -> bytes:
    """Return a sheet of Excel 4: a header, a text and numbers, as records of type, length, data."""

    def record(type_: int, data: bytes) -> bytes:
        return struct.pack("<HH", type_, len(data)) + data

    def label(row: int, column: int, text: str) -> bytes:
        return record(0x204, struct.pack("<HHHH", row, column, 0, len(text)) + text.encode())

    def number(row: int, column: int, value: float) -> bytes:
        return record(0x203, struct.pack("<HHHd", row, column, 0, value))

    cells = [label(0, 0, "Town"), label(0, 1, "Rain"), label(1, 0, "Bergen"), number(1, 1, 12.5)]
    return b"".join([record(0x409, struct.pack("<HHH", 0, 0x10, 0)), *cells, record(0x0A, b"")])


def test_old_excel(tmp_path: Path) -> None:
    document = read_one(tmp_path / "a.xls", _old_excel())
    [table] = document.tables
    assert table.rows == (("Town", "Rain"), ("Bergen", "12.5"))
    assert table.header_rows == 1
    assert document.text[table.start : table.end] == markdown(table)


def _slides() -> Any:
    place = (Inches(1), Inches(3), Inches(5), Inches(2))
    made = Presentation()
    made.core_properties.title = "Rain, the talk"
    slide = made.slides.add_slide(made.slide_layouts[1])
    low = slide.shapes.add_textbox(*place)
    low.text_frame.text = "Lowest"
    slide.shapes.title.text = "First"
    slide.placeholders[1].text = "A point\nAnother"
    slide.notes_slide.notes_text_frame.text = "Say hello."
    slide = made.slides.add_slide(made.slide_layouts[6])
    slide.shapes.add_picture(io.BytesIO(_PIXEL), *place)
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Table 2: Scores"
    table = slide.shapes.add_table(3, 3, *place).table
    for r in range(3):
        for c in range(3):
            table.cell(r, c).text = f"r{r}c{c}"
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    slide = made.slides.add_slide(made.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Rain", (1.5, None))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data)
    return made


_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8"
    "ffff3f0005fe02fea735811a0000000049454e44ae426082"
)


def test_slides(tmp_path: Path) -> None:
    document = read_one(tmp_path / "a.pptx", _bytes(_slides()))
    assert document.title == "Rain, the talk"
    assert document.left_out == ("page 2: only pictures, no text",)
    texts = [document.text[page.start : page.end] for page in document.pages]
    assert "".join(texts) == document.text
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    assert texts[0].split("\n\n") == ["First", "A point\nAnother", "Lowest", "Say hello.", ""]
    assert texts[1] == ""
    assert [(s.title, document.text[s.start :][:5]) for s in document.sections] == [
        ("First", "First"),
        ("Table 2: Scores", "Table"),
        ("slide 4", "|  | "),
    ]
    scores, chart = document.tables
    assert scores.rows == (
        ("r0c0", "r0c1 r0c2", "r0c1 r0c2"),
        ("r1c0 r2c0", "r1c1", "r1c2"),
        ("r1c0 r2c0", "r2c1", "r2c2"),
    )
    assert set(scores.spans) == {Span(0, 1, 1, 2), Span(1, 0, 2, 1)}
    assert (scores.header_rows, scores.row_pages) == (1, (3, 3, 3))
    assert (scores.caption, scores.number) == ("Table 2: Scores", "2")
    assert chart.rows == (("", "Rain"), ("May", "1.5"), ("June", ""))
    assert chart.row_pages == (4, 4, 4)
    for table in document.tables:
        assert document.text[table.start : table.end] == markdown(table)


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_BOX = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
_DRAWN = f"<c:Choice><w:drawing>{_BOX}{_BOX}</w:drawing></c:Choice><c:Fallback/>"
_FORMULA = (
    "<m:r><m:t>x=</m:t></m:r><m:f><m:fPr/><m:num><m:t>a+b</m:t></m:num><m:den><m:t>2</m:t></m:den>"
    "</m:f><m:sSup><m:e><m:t>c</m:t></m:e><m:sup><m:t>2</m:t></m:sup></m:sSup>"
)
_W14 = "http://schemas.microsoft.com/office/word/2010/wordml"
_CELL = "<w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p></w:tc>"
_LATE = f"<w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr>{_CELL}</w:tr>"
_GAPS = f"<w:tbl><w:tr>{_CELL}{_CELL}</w:tr>{_LATE}</w:tbl>"
_FORMS = {"<p:sp>": "<AlternateContent><q><p:sp>", "</p:sp>": "</p:sp></q></AlternateContent>"}
_MATH = {"Lowest</a:t></a:r>": "Lowest </a:t></a:r><a:m><a:t>x=2</a:t></a:m>"}
_RAISED = '<a:r><a:rPr baseline="30000"/><a:t>'
_DIAGRAM = {'2006/chart"><': 'x"><', "r:id": "r:dm", "c:v>": "c:t>"}


@pytest.mark.parametrize(
    ("kind", "edits", "expected"),
    [
        (".pptx", {"c:bar": "c:bar3D", "General": "0%"}, "| Rain |\n| --- | --- |\n| May | 150% |"),
        (".pptx", {"c:cat>": "c:xVal>", "General": "yyyy"}, "| May | 1900-01-01 12:00:00 |"),
        (".pptx", {"</c:cat>": '<q><c:pt idx="0"><c:v>I</c:v></c:pt></q></c:cat>'}, "| I June |"),
        (".pptx", {'"rId2"/>': '"rId9"/>'}, "page 4: Chart 1 cannot be read"),
        (".pptx", _DIAGRAM, "Rain\n\nMay\n\nJune\n\n1.5"),
        (".pptx", _FORMS | _MATH, "First\n\nA point\nAnother\n\nLowest x=2"),
        (".pptx", {"<a:r><a:t>Lowest": f"<a:r><a:t>10</a:t></a:r>{_RAISED}2"}, "10^2"),
        (".docx", {"<w:sectPr": f"{_GAPS}<w:sectPr"}, "| A | A |\n| --- | --- |\n|  | A |"),
        (".docx", {"After": "A</w:t><w:br w:type='page'/><w:t>B"}, "A\nB."),
        (".docx", {"After": "A</w:t><w:cr/><w:endnoteReference w:id='9'/><w:t>B"}, "A\nB."),
        (".docx", {"<w:r>": "<w:hyperlink r:id=''><w:r>", "</w:r>": "</w:r></w:hyperlink>"}, "er."),
    ],
)
def test_other_programs(tmp_path: Path, kind: str, edits: dict[str, str], expected: str) -> None:
    parts = unpack(_bytes(_MADE[kind]()))
    for name in (n for n in parts if re.match("word/[a-z]*.xml|ppt/(slides|charts)/[a-z]", n)):
        for old, new in edits.items():
            parts[name] = parts[name].replace(old.encode(), new.encode())
    document = read_one(tmp_path / f"a{kind}", pack(parts))
    assert expected in "\n".join((document.text, *document.left_out))


def test_what_a_reader_of_a_word_file_sees(tmp_path: Path) -> None:
    made = Document()
    paragraph = made.add_paragraph("seen ")
    paragraph.add_run("vanished").font.hidden = True
    paragraph.add_run("white").font.color.rgb = RGBColor(255, 255, 255)
    kept = made.styles.add_style("Kept", 2)
    kept.base_style = made.styles.add_style("Away", 2)
    kept.base_style.font.hidden = True
    paragraph.add_run("away", kept)
    paragraph.add_run("kept ", kept).font.hidden = False
    for part in (
        "<w:del {}><w:r><w:delText>deleted</w:delText></w:r></w:del>",
        "<w:ins {}><w:fldSimple><w:r><w:t>inserted </w:t></w:r></w:fldSimple></w:ins>",
        f'<m:oMath xmlns:m="math">{_FORMULA}</m:oMath>',
        f"<w:sdt {{}} xmlns:w14='{_W14}'><w:sdtPr><w14:checkbox><w14:checked w14:val='1'/>"
        "</w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>x</w:t></w:r></w:sdtContent></w:sdt>",
        "<w:r {}><w:rPr><w:rFonts w:ascii='Wingdings'/></w:rPr><w:t>\uf0a8\xfe</w:t>"
        "<w:sym w:font='Wingdings' w:char='F0FD'/></w:r>",
        f"<w:r {{}}><c:AlternateContent xmlns:c='c'>{_DRAWN}</c:AlternateContent></w:r>",
        "<w:r {}><w:rPr><w:color w:val='FFFFFF'/><w:shd w:fill='auto'/></w:rPr><w:t>w</w:t></w:r>",
    ):
        paragraph._p.append(parse_xml(part.format(_W)))
    made.add_comment(paragraph.runs, "a comment", "me", "m")
    cell = made.add_table(1, 1).cell(0, 0).paragraphs[0].add_run("a column")
    cell.font.color.rgb = RGBColor(255, 255, 255)
    made.sections[0].header.paragraphs[0].text = "Top"
    document = read_one(tmp_path / "a.docx", _bytes(made))
    first = "seen kept inserted x=(a+b)/2c^2☒☐☒☒"
    assert document.text.split("\n\n") == [first, "boxed", "boxed", "a column"]
    assert document.left_out == ("not read: headers", "6 hidden parts are left out")


def test_what_a_reader_of_sheets_and_slides_sees(tmp_path: Path) -> None:
    made = _excel()
    other = made["Other"]
    other["A3"].comment = Comment("a comment", "me")
    other["A2"].font = Font(color="FFFFFFFF")
    other["A3"].font = Font(color=Color(theme=0, tint=-0.5))
    chart = BarChart()
    chart.title = "By month"
    other.add_chart(chart)
    other.append(["gone", 1, 9])
    other.row_dimensions[4].hidden = other.column_dimensions["B"].hidden = True
    other["C3"].number_format = ";;;"
    made.create_sheet("Kept away").append(["secret"])
    made["Kept away"].sheet_state = "veryHidden"
    document = read_one(tmp_path / "a.xlsx", _bytes(made))
    assert document.tables[1].rows == (("id", "code"), ("", "00007"), ("z", ""))
    assert "comment" not in document.text
    assert "secret" not in document.text
    assert document.left_out == (
        'sheet "Other": 3 hidden parts are left out',
        _UNSOLVED,
        'sheet "Kept away" is hidden and left out',
        "1 texts of charts and text boxes are left out",
    )
    made = _slides()
    made.slides[0]._element.set("show", "0")
    document = read_one(tmp_path / "a.pptx", _bytes(made))
    assert "First" not in document.text
    assert document.left_out[0] == "page 1 is a hidden slide and left out"
    assert [page.number for page in document.pages] == [1, 2, 3, 4]


_NAMES = " ".join(
    f'xmlns:{kind[:2]}="urn:oasis:names:tc:opendocument:xmlns:{kind}:1.0"'
    for kind in ("office", "text", "table", "style")
)
_STYLES = (
    '<st:style st:name="as" st:parent-style-name="no"/>'
    '<st:style st:name="no"><st:text-properties te:display="none"/></st:style>'
    '<st:style st:name="up"><st:text-properties st:text-position="super 58%"/></st:style>'
    '<st:style st:name="off"><st:table-properties ta:display="false"/></st:style>'
    '<st:style st:name="pale"><st:text-properties st:color="#FFFFFF"/></st:style>'
)


def _open_document(body: str, styles: str = "") -> bytes:
    content = f"<of:c {_NAMES}>{_STYLES}{styles}<of:body>{body}</of:body></of:c>"
    title = '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Dues</dc:title></c>'
    return pack({"content.xml": content, "styles.xml": "<c/>", "meta.xml": title})


def _odf_row(*cells: str, said: str = "") -> str:
    return f"<ta:table-row {said}>{''.join(cells)}</ta:table-row>"


def _odf_cell(text: str, said: str = "") -> str:
    return f"<ta:table-cell {said}><te:p>{text}</te:p></ta:table-cell>"


def test_open_document_text(tmp_path: Path) -> None:
    wide = _odf_cell("mm", 'ta:number-columns-spanned="2"')
    rows = _odf_row(_odf_cell("Town"), wide) + _odf_row(*map(_odf_cell, ("Voss", "1", "2")))
    body = f"""<of:text><te:tracked-changes><te:deletion><te:p>gone</te:p></te:deletion>
</te:tracked-changes><te:h te:outline-level="2">Rain</te:h><te:p>One<te:s te:c="2"/>two
10<te:span te:style-name="up">2</te:span>
<te:title>Dues</te:title><te:hidden-text te:is-hidden="true">no</te:hidden-text>
<te:note><te:note-citation>1</te:note-citation><te:note-body><te:p>A note.</te:p></te:note-body>
</te:note><te:span te:style-name="as">secret</te:span><of:annotation><te:p>a comment</te:p>
</of:annotation>.</te:p><ta:table>{rows}</ta:table></of:text>"""
    document = read_one(tmp_path / "a.odt", _open_document(body))
    assert document.title == "Dues"
    assert [(s.title, s.level) for s in document.sections] == [("Rain", 2)]
    table = markdown(document.tables[0])
    assert document.text == f"Rain\n\nOne two 10^2 Dues [1].\n\n{table}\n\n[1] A note."
    assert document.tables[0].rows == (("Town", "mm", "mm"), ("Voss", "1", "2"))
    assert document.left_out == ("4 hidden parts are left out",)
    white = '<of:text><te:p>Seen. <te:span te:style-name="pale">white</te:span></te:p></of:text>'
    fill = '<st:style st:name="f"><st:graphic-properties st:fill="solid"/></st:style>'
    for more, text in (("", "Seen."), (fill, "Seen. white")):
        assert read_one(tmp_path / "b.odt", _open_document(white, more)).text == text


def test_open_document_sheets(tmp_path: Path) -> None:
    row, cell = _odf_row, _odf_cell
    money = cell("1.234,50 €", 'of:value-type="currency" of:value="1234.5"')
    share = cell("2,5 %", 'of:value-type="percentage" of:value="0.025"')
    empty = cell("", 'ta:number-columns-repeated="16384"')
    body = f"""<of:spreadsheet><ta:table ta:name="Harbour"><ta:table-column
ta:number-columns-repeated="3"/><ta:table-column ta:visibility="collapse"/>
{row(*map(cell, ("Port", "Dues", "Since", "x")))}
{row(cell("Lyme"), money, cell("1.3.19", 'of:date-value="2019-03-01"'), cell("hidden"))}
{row(cell("Bath"), share, cell("-"))}{row(cell("gone"), said='ta:visibility="filter"')}
{row(empty, said='ta:number-rows-repeated="1048570"')}<ta:shapes/></ta:table>
<ta:table ta:name="Away" ta:style-name="off">{row(cell("secret"))}</ta:table></of:spreadsheet>"""
    document = read_one(tmp_path / "a.ods", _open_document(body))
    assert document.tables[0].rows == (
        ("Port", "Dues", "Since"),
        ("Lyme", "1.234,50 €", "2019-03-01"),
        ("Bath", "2,5 %", "-"),
    )
    assert document.left_out == (
        'sheet "Harbour": 2 hidden parts are left out',
        'sheet "Away" is hidden and left out',
        "charts or text boxes that lie on a sheet are not read",
    )
    one = f"<of:spreadsheet><ta:table>{row(cell('alone'))}</ta:table></of:spreadsheet>"
    assert "alone" in read_one(tmp_path / "b.ods", _open_document(one)).text
    many = one.replace("><ta:table-cell", ' ta:number-rows-repeated="1500"><ta:table-cell')
    assert len(read_one(tmp_path / "b.ods", _open_document(many)).tables[0].rows) == 1500
    far = one.replace("table-row >", f"table-row >{empty.replace('16384', '9' * 12)}")
    with pytest.raises(InputError, match="more than 10,000,000 cells"):
        read_one(tmp_path / "b.ods", _open_document(far))


def test_books(tmp_path: Path) -> None:
    book = """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Coast
</dc:title></metadata><manifest><item id="a" href="../a.xhtml"/><item id="b" href="b%2Exhtml"/>
<item id="s" href="s.css" media-type="text/css"/></manifest><spine><itemref idref="b"/><itemref
idref="lost"/><itemref idref="a"/></spine></package>"""
    parts = {
        "META-INF/container.xml": '<container><rootfile full-path="in/c.opf"/></container>',
        "in/c.opf": book,
        "a.xhtml": "<html><body><h1>Last</h1><p class='h'>no</p></body></html>",
        "in/b.xhtml": "<html><head><title/></head><body><h1>First</h1>Rain.</body></html>",
        "in/s.css": ".h{display:none}",
    }
    document = read_one(tmp_path / "a.epub", pack(parts))
    assert (document.title, document.text) == ("The Coast", "First\n\nRain.\n\nLast")
    assert document.left_out[1:] == ("lost is missing or cannot be read",)
    with pytest.raises(InputError, match="locked"):
        read_one(tmp_path / "b.epub", pack({**parts, "META-INF/rights.xml": "<x/>"}))


def test_a_mail_and_what_is_attached_to_it(tmp_path: Path) -> None:
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("Deep text.")
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "Åse Holm <ase@example.org>", "Größe"
    mail.set_content("plain")
    mail.add_alternative("<p>A <b>page</b>.</p><p hidden>secret</p>", subtype="html")
    mail.add_attachment(b"Port,Dues\nLyme,12\n", maintype="text", subtype="csv", filename="d.CSV")
    mail.add_attachment(inner)
    mail.add_attachment(b"no", maintype="application", subtype="pdf", filename="bad.pdf")
    mail.add_attachment(b"PK", maintype="application", subtype="zip", filename="../a.zip")
    path = write_file(tmp_path / "a.eml", mail.as_bytes())
    first, table, nested, bad = read(path)
    assert first.title == "Größe"
    assert first.text == "Größe\n\nFrom: Åse Holm <ase@example.org>\n\nA page."
    assert first.left_out == (
        "1 hidden part is left out",
        "attached a.zip: an archive: unpack it and load what is in it",
    )
    assert [(d.title, d.key, d.source) for d in (table, nested)] == [
        ("d", "d.CSV", path.as_posix()),
        ("Inner", "Inner.eml", path.as_posix()),
    ]
    assert "| Lyme | 12 |" in table.text
    assert str(bad).startswith(f"{path}/bad.pdf: not a PDF file")
    with pytest.raises(InputError, match="this is no mail"):
        read_one(tmp_path / "b.eml", b"no heading")


_THREAD = """From: "Bo Lind" <bo@example.org>
Subject: {}
Date: Wed, 4 Mar 2026 09:00:00 +0100
Content-Type: text/{}

"""
_QUOTED = """I agree.

On Tue, 3 Mar 2026 at 10:12, Ada Holm <ada@example.org>
wrote:
> I propose the red rope.
> Am 02.03.2026 um 08:15 schrieb Carl Ek:
>> Which rope?
> Soon.

No.

From: Dora Wik
Sent: Monday, March 2, 2026 7:00 AM
To: Carl Ek

It is torn.
"""
_HTML = """<p>I agree.<div>Le mar. 3 mars 2026, Ada Holm &lt;<a>a@x.org</a>&gt; a écrit :</div>
<blockquote>I propose the red rope.</blockquote><p>No.<p><b>Von:</b> Dora Wik<br><b>Gesendet:</b>
2.3.2026 07:00<br><b>An:</b> Carl</p><p>It is torn.</p>"""


def test_quoted_parts_are_their_writers(tmp_path: Path) -> None:
    own = "Bo Lind wrote on Wed, 04 Mar 2026 09:00:00 +0100"
    for kind, body, expected in (
        ("plain", _QUOTED, [
            (own, "I agree."), ("Ada Holm wrote on Tue, 3 Mar 2026 at 10:12", "I propose"),
            ("Carl Ek wrote on 02.03.2026 um 08:15", "Which rope?"),
            ("Ada Holm wrote on Tue, 3 Mar 2026 at 10:12", "Soon."), (own, "No."),
            ("Dora Wik wrote on Monday, March 2, 2026 7:00 AM", "From: Dora Wik"),
        ]),
        ("html", _HTML, [
            (own, "I agree."),
            ("Ada Holm wrote on mar. 3 mars 2026", "I propose"), (own, "No."),
            ("Dora Wik wrote on 2.3.2026 07:00", "Von: Dora Wik"),
        ]),
        ("plain", "> a line\nof my own", [
            ("A quoted part, of somebody else", "a line"), (own, "of my own"),
        ]),
    ):  # fmt: skip
        data = _THREAD.format("(no subject)", kind) + body
        document = read_one(tmp_path / "thread.eml", data.encode())
        assert document.title == "thread"
        below = [document.text[s.start + len(s.title) :].lstrip() for s in document.sections]
        found = [s.title for s in document.sections if s.level == 2]
        assert found == [title for title, _ in expected]
        texts = below[len(below) - len(found) :]
        assert [text[: len(e[1])] for text, e in zip(texts, expected, strict=True)] == [
            text for _, text in expected
        ]
        for line in filter(str.strip, re.sub("<[^>]*>|^[> ]+", "\n", body, flags=re.M).split("\n")):
            assert line.replace("&lt;", "<").replace("&gt;", ">").strip() in document.text


@pytest.mark.parametrize(
    ("mail", "text", "keys"),
    [
        ("{mixed}--a\n\n1\n--a\n{page}2\n--a--", "1 2", []),
        ("{mixed}--a\n\n1\n--a\n{file}x\n--a\n{file}y\n--a--", "1", ["a.txt", "2 a.txt"]),
        ("{forms}--b\n\n1\n--b\n{mixed}--a\n{page}2\n--a\n{file}x\n--a\n{page}3\n--a--\n--b\n"
         "Content-Type: text/calendar\n\nno\n--b--", "2 3", ["a.txt"]),
        ("{forms}--b\n\n1\n--b\n{page}<br>\n--b--", "1", []),
        ("{file}x", "", ["a.txt"]),
        ("Content-Type: text/plain; charset=iso-8859-1\n\n\x80 5", "€ 5", []),
        ('To: "A B" <a@x>; Holm, C <c@x>\n\n1', "To: A B <a@x>; Holm, C <c@x> 1", []),
        ("{mixed}1", "1", []),
        ("{mixed}--c\n{page}2\n--c\n{file}x\n--c--", "2", ["a.txt"]),
        ("Content-Type: multipart/digest; boundary=a\n\n--a\n\n1\n--a--", "1", []),
    ],
)  # fmt: skip
def test_a_mail_is_read_once(tmp_path: Path, mail: str, text: str, keys: list[str]) -> None:
    kinds = {
        "mixed": "Content-Type: multipart/mixed; boundary=a\n\n",
        "forms": "Content-Type: multipart/alternative; boundary=b\n\n",
        "page": "Content-Type: text/html\n\n<p>",
        "file": "Content-Disposition: attachment; filename=a.txt\n\n",
    }
    data = f"Subject: Gr\xfc\xdfe\n{mail.format(**kinds)}\n".encode("latin-1")
    first, *files = read(write_file(tmp_path / "a.eml", data))
    assert first.title == "Grüße"
    assert first.text.split() == ["Grüße", *text.split()]
    assert [file.key for file in files] == keys


@pytest.mark.parametrize(
    ("mode", "paper", "ink"), [("RGBA", (0, 0, 0, 0), "black"), ("I;16", 60_000, 9_000)]
)
def test_pictures_are_recognised(tmp_path: Path, mode: str, paper: Any, ink: Any) -> None:
    picture = Image.new(mode, (900, 200), paper)
    words = "The harbour opens at nine."
    ImageDraw.Draw(picture).text((40, 60), words, ink, ImageFont.load_default(44))
    document = read_one(tmp_path / "A.PNG", _bytes(picture, "PNG"))
    assert document.text.strip() == words
    assert document.pages[0].recognised
    blank = _bytes(Image.new("1", (90, 90), 1), "PNG")
    for data, expected in ((b"none", "no picture"), (blank, "no text is recognised")):
        with pytest.raises(InputError, match=expected):
            read_one(tmp_path / "b.png", data)


_MADE = {".docx": _word, ".xlsx": _excel, ".pptx": _slides}


def _changed(data: bytes, part: str, new: bytes) -> bytes:
    """Return an office file with one part put in or replaced."""
    return pack({**unpack(data), part: new})


@pytest.mark.parametrize("kind", _MADE)
def test_files_that_are_not_what_they_say(tmp_path: Path, kind: str) -> None:
    empty: Any = {".docx": Document, ".xlsx": Workbook, ".pptx": Presentation}[kind]
    good = _bytes(_MADE[kind]())
    other = _bytes(_MADE[next(k for k in _MADE if k != kind)]())
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    encrypted = bytearray(good)
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in range(len(good)):
            if good.startswith(sign, found):
                encrypted[found + at] |= 1
    for data, expected in (
        (b"", "the file is empty"),
        (b"plain text", "damaged one"),
        (_bytes(empty()), "the file holds no text"),
        (good[: len(good) // 2], "damaged one"),
        (other, "this is no"),
        (ole, f"Save it as {kind}"),
        (ole + "EncryptedPackage".encode("utf-16-le"), "the file is encrypted. Give a copy"),
        (bytes(encrypted), "the file is encrypted. Give a copy"),
    ):
        with pytest.raises(InputError, match=expected) as raised:
            read_one(tmp_path / f"a{kind}", data)
        assert str(raised.value).startswith(f"{tmp_path}/a{kind}: ")


def test_old_excel_that_is_not(tmp_path: Path) -> None:
    for data, expected in (
        (b"", "the file is empty"),
        (b"plain text", "no Excel file"),
        (_bytes(_excel()), "Rename it to .xlsx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "damaged|no Excel file"),
        (_old_excel()[:40], "damaged|no Excel file|no text"),
    ):
        with pytest.raises(InputError, match=expected):
            read_one(tmp_path / "a.xls", data)


@pytest.mark.parametrize("kind", _MADE)
def test_what_unpacks_without_end_is_not_unpacked(tmp_path: Path, kind: str) -> None:
    main = {".docx": "word/x.xml", ".xlsx": "xl/x.xml", ".pptx": "ppt/x.xml"}[kind]
    packed = bytearray(_changed(_bytes(_MADE[kind]()), main, b"<a/>"))
    directory = packed.rfind(b"PK\x01\x02", 0, packed.rfind(main.encode()))
    packed[directory + 24 : directory + 28] = struct.pack("<I", 4_000_000_000)
    with pytest.raises(InputError, match="unpacks to more than can be read"):
        read_one(tmp_path / f"a{kind}", bytes(packed))


def test_a_sheet_of_endless_width_is_refused(tmp_path: Path) -> None:
    row = '<row r="{0}"><c r="XFD{0}"><v>1</v></c></row>'
    rows = "".join(map(row.format, range(1, 750))).encode()
    namespace = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheet = b"<worksheet " + namespace + b"><sheetData>" + rows + b"</sheetData></worksheet>"
    with pytest.raises(InputError, match=r"more than 10,000,000 cells\. Save the sheets as \.csv"):
        read_one(tmp_path / "a.xlsx", _changed(_bytes(_excel()), "xl/worksheets/sheet1.xml", sheet))


def test_merged_cells_over_merged_cells_without_end_are_refused(tmp_path: Path) -> None:
    sheet = unpack(_bytes(_excel()))["xl/worksheets/sheet1.xml"]
    start, end = sheet.index(b"<mergeCells"), sheet.index(b"</mergeCells>")
    cell = b'<c r="B9999" t="inlineStr"><is><t>x</t></is></c>'
    rows = b'<row r="9999">' + cell + b"</row></sheetData>"
    merges = b"<mergeCells>" + b'<mergeCell ref="B2:G9999"/>' * 500
    asking = sheet[:start].replace(b"</sheetData>", rows) + merges + sheet[end:]
    changed = _changed(_bytes(_excel()), "xl/worksheets/sheet1.xml", asking)
    with pytest.raises(InputError, match="more than 10,000,000 cells"):
        read_one(tmp_path / "a.xlsx", changed)


def test_entities_are_not_unfolded(tmp_path: Path) -> None:
    """Nor fetched: security/test_known_attacks.py."""
    body = unpack(_bytes(_word()))["word/document.xml"]
    start = body.index(b"<w:document")
    more = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    bomb = f'<!DOCTYPE x [<!ENTITY a "{"x" * 1000}">{more}]>'
    asking = body[:start] + bomb.encode() + body[start:].replace(b"After.", b"&j;")
    with pytest.raises(InputError, match="damaged"):
        read_one(tmp_path / "a.docx", _changed(_bytes(_word()), "word/document.xml", asking))


@pytest.mark.parametrize(
    ("kind", "package"), [(".docx", "mammoth"), (".xlsx", "openpyxl"), (".pptx", "pptx")]
)
def test_a_missing_package_is_told(tmp_path: Path, kind: str, package: str) -> None:
    path = write_file(tmp_path / f"a{kind}", _bytes(_MADE[kind]()))
    told = f'needs the package {package}. Install it: pip install "kgp-neo4j[office]".'
    assert told in told_without(package, path)
