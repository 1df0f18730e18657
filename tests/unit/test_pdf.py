"""PDF files: text in reading order, letters, pages, titles, places, what cannot be read."""

import re
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pdfplumber
import pytest
from commands import output
from graphs import write_file
from PIL import Image
from reading_files import told_without
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from small_pdfs import HEIGHT, LEVEL, RULED, WIDTH, Draw, Page, pdf, prose, read, stream, written

from kgp_neo4j.corpus.load.pdf.document import PASSWORD_VARIABLE
from kgp_neo4j.show import page_pictures
from kgp_neo4j.show.page_pictures import describe_page, draw_page, read_letters
from kgp_neo4j.text.safe import plain_letters
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import CorpusError, InputError


def _lines(*texts: str, x: float = 72, y: float = 90, step: float = 12) -> Draw:
    def draw(page: Page) -> None:
        for at, text in enumerate(texts):
            page.line(x, y + at * step, text)

    return draw


def _picture(page: Page) -> None:
    page.canvas.drawImage(ImageReader(Image.new("RGB", (40, 40), "gray")), 100, 300, 300, 300)


def test_lines_of_a_paragraph_are_joined_and_paragraphs_parted() -> None:
    def draw(page: Page) -> None:
        end = page.text(72, 72, 460, prose(60))
        page.text(72, end + 10, 460, prose(50, 3))

    assert read(pdf(draw)).text == f"{prose(60)}\n\n{prose(50, 3)}\n\n"


def test_broken_words_are_put_together_and_hyphenated_ones_kept() -> None:
    lines = (
        "This is a well-known case of the multi-",
        "ple bridges, and of the well-",
        "known keeper, near self-",
        "made harbours built in 1990–",
        "1995 for him. The price-",
        "determining har-",
        "bour is priced as the board determines.",
    )
    assert read(pdf(_lines(*lines))).text == (
        "This is a well-known case of the multiple bridges, and of the well-known keeper, near "
        "self-made harbours built in 1990–1995 for him. The price-determining harbour is priced "
        "as the board determines.\n\n"
    )


@pytest.mark.parametrize("has_looks", [True, False])
def test_fields_of_forms_are_read(has_looks: bool) -> None:
    def draw(page: Page) -> None:
        page.line(72, 100, "Insured:")
        page.line(72, 130, "Trailer:")
        page.line(120, 160, "monthly")
        page.line(220, 160, "yearly")
        form = page.canvas.acroForm
        for name, x, y, checked in (("a", 200, 100, 1), ("b", 200, 130, 0), ("c", 300, 260, 1)):
            place = {"x": x, "y": HEIGHT - y - 2, "size": 12}
            form.checkbox(name=name, tooltip="Agreed", checked=bool(checked), **place)
        for value, x in (("m", 100), ("y", 200)):
            chosen = value == "y"
            form.radio(name="paid", value=value, selected=chosen, x=x, y=HEIGHT - 162, size=12)
        form.textfield(name="n", value="Bertil", x=72, y=HEIGHT - 220, width=90, height=16)

    data = pdf(draw)
    if not has_looks:
        data = data.replace(b"/AP ", b"/Ap ")
    text = read(data).text
    said = "Insured: yes Trailer: no ☐ monthly ☒ yearly Bertil Agreed: yes"
    assert text.split() == said.split()


def test_columns_are_read_one_after_the_other() -> None:
    def draw(page: Page) -> None:
        page.line(72, 60, "A heading over both of the columns of this page, quite long", 14)
        page.text(72, 80, 220, prose(120))
        page.text(312, 80, 220, prose(120, 4))
        page.text(72, 500, 460, prose(60, 9))

    text = read(pdf(draw)).text
    places = [text.index(part) for part in (prose(120), prose(120, 4), prose(60, 9))]
    assert places == sorted(places)
    assert text.startswith("A heading over both")


def test_items_of_a_list_are_paragraphs_of_their_own() -> None:
    text = read(pdf(_lines("Before the list:", "• one ferry", "• two ships", "1. three"))).text
    assert text.split("\n\n")[:4] == ["Before the list:", "• one ferry", "• two ships", "1. three"]


@pytest.mark.parametrize("size", [5, 6, 10])
def test_letters_printed_twice_count_once(size: int) -> None:
    def draw(page: Page) -> None:
        page.line(72, 90, "The hull of all 11 ferries", size)
        page.line(72.2, 90, "The hull of all 11 ferries", size)

    assert read(pdf(draw)).text == "The hull of all 11 ferries\n\n"


@pytest.mark.parametrize("y", [84, 96, 112])
def test_lines_beside_large_letters_and_below_a_stamp_are_whole(y: int) -> None:
    def draw(page: Page) -> None:
        page.text(150, 90, 400, prose(60))
        page.line(72, y, "87%", 40)
        page.canvas.translate(100, 650)
        page.canvas.rotate(45)
        page.line(0, HEIGHT, "COPY ONLY", 60)
        page.line(-100, HEIGHT + 400, "A slanted name.")

    document = read(pdf(draw))
    assert document.text.replace("\n\n", " ") == f"87% {prose(60)} A slanted name. "
    assert document.pages[0].footer == "COPY ONLY"


def _book(count: int) -> bytes:
    def chapter(number: int) -> Draw:
        def draw(page: Page) -> None:
            page.line(72, 40, f"Chapter {1 + number // 3}. The Northern Islands", 9)
            page.text(72, 90, 460, prose(70 + 11 * number, number))
            page.line(300, 760, str(number + 10), 9)

        return draw

    return pdf(*map(chapter, range(count)))


def test_headers_and_footers_are_not_in_the_text() -> None:
    document = read(_book(7))
    assert [page.number for page in document.pages] == [1, 2, 3, 4, 5, 6, 7]
    assert [page.label for page in document.pages] == [str(n + 10) for n in range(7)]
    for number, page in enumerate(document.pages):
        assert page.header == f"Chapter {1 + number // 3}. The Northern Islands"
        assert page.footer == str(number + 10)
        assert document.text[page.start : page.end] == f"{prose(70 + 11 * number, number)}\n\n"


def test_a_lone_page_knows_its_number() -> None:
    def draw(page: Page) -> None:
        page.line(150, 50, "Running title of the book", 9)
        page.line(500, 50, "9", 9)
        page.text(72, 90, 460, prose(90))
        page.line(290, 765, "Page 9 of 20", 9)

    (page,) = read(pdf(draw)).pages
    assert (page.header, page.footer) == ("Running title of the book 9", "Page 9 of 20")
    assert page.label == "9"


def test_labels_of_the_file_come_first() -> None:
    def draw(page: Page) -> None:
        page.canvas.addPageLabel(0, style="ROMAN_LOWER")
        page.text(72, 90, 460, prose(40))

    assert [page.label for page in read(pdf(draw, draw, draw)).pages] == ["i", "ii", "iii"]


def test_marks_in_the_margin_are_not_in_the_text() -> None:
    def draw(page: Page) -> None:
        page.text(72, 90, 460, prose(40))
        page.canvas.saveState()
        page.canvas.translate(20, 300)
        page.canvas.rotate(90)
        page.canvas.drawString(0, 0, "stamp of the archive")
        page.canvas.restoreState()

    document = read(pdf(draw))
    assert document.text == f"{prose(40)}\n\n"
    assert document.pages[0].footer == "stamp of the archive"


def test_a_page_that_is_a_picture_is_kept_and_named() -> None:
    document = read(pdf(_lines("Some text."), _picture, _lines("More text.")))
    assert [page.end - page.start for page in document.pages] == [12, 0, 12]
    assert document.left_out == ("page 2: only an image, no text",)


def test_a_scanned_page_is_recognised() -> None:
    def draw(page: Page) -> None:
        page.line(72, 100, "The Great Ferry", 22)
        page.text(72, 130, 460, prose(40), 11)

    with pdfplumber.open(BytesIO(pdf(draw))) as printed:
        picture = printed.pages[0].to_image(resolution=150).original
    scanned = pdf(
        _lines("Some text."), lambda page: page.canvas.drawInlineImage(picture, 0, 0, WIDTH, HEIGHT)
    )
    document = read(scanned)
    assert document.text == f"Some text.\n\nThe Great Ferry\n\n{prose(40)}\n\n"
    assert [page.recognised for page in document.pages] == [False, True]
    assert [(s.title, s.start) for s in document.sections] == [("The Great Ferry", 12)]
    assert document.left_out == ()


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ("Bridges of the North", "Bridges of the North"),
        ("Microsoft Word - report.doc", "The Great Bridge"),
        ("10811.exe", "The Great Bridge"),
    ],
)
def test_the_title_is_that_of_the_file_or_the_largest_heading(metadata: str, title: str) -> None:
    def draw(page: Page) -> None:
        page.canvas.setTitle(metadata)
        page.line(72, 70, "The Great Bridge", 18)
        page.line(72, 700, "PUBLISHER", 30)
        page.text(72, 100, 460, prose(60))

    assert read(pdf(draw)).title == title


def _sections(document: SourceDocument) -> list[tuple[str, int]]:
    assert all(document.text[s.start :].startswith(s.title) for s in document.sections)
    return [(section.title, section.level) for section in document.sections]


def _report(page: Page) -> None:
    page.line(72, 70, "The Great Bridge", 20)
    page.line(72, 110, "1 Methods", 14)
    page.line(72, 140, "Sampling of Boats", 10, "Times-Bold")
    page.text(72, 165, 460, prose(60))
    page.line(72, 300, "In Bold Alone", 10, "Times-Bold")
    page.line(72, 340, "Results", 14)
    page.text(72, 365, 460, prose(60, 3))


def test_larger_and_bold_lines_above_text_are_headings() -> None:
    document = read(pdf(_report))
    assert document.title == "The Great Bridge"
    bold = [("Sampling of Boats", 2), ("In Bold Alone", 2)]
    assert _sections(document) == [("1 Methods", 1), *bold, ("Results", 1)]


def test_the_outline_of_a_file_says_what_is_a_heading() -> None:
    def draw(page: Page) -> None:
        _report(page)
        for level, title in enumerate(("Methods", "Sampling of Boats")):
            page.canvas.bookmarkPage(title)
            page.canvas.addOutlineEntry(title, title, level)

    assert _sections(read(pdf(draw))) == [("1 Methods", 1), ("Sampling of Boats", 2)]


def test_without_a_heading_the_title_is_the_files_name() -> None:
    assert read(pdf(_lines("Some text.")), "my_report.pdf").title == "my report"


def _error(data: bytes) -> str:
    with pytest.raises(InputError) as raised:
        read(data)
    assert raised.value.where == "file.pdf"
    assert raised.value.__cause__ is None or "password" not in str(raised.value.__cause__)
    return str(raised.value)


def test_what_is_no_pdf_is_refused() -> None:
    assert "empty" in _error(b"")
    assert "not a PDF" in _error(b"Only text with another name.\n" * 50)
    assert "damaged" in _error(b"%PDF-1.4\nnothing follows")


def test_a_truncated_file_is_refused_or_read_as_far_as_it_goes() -> None:
    whole = _book(4)
    for share in (0.2, 0.5, 0.9):
        part = whole[: int(len(whole) * share)]
        try:
            assert read(part).text.strip()
        except InputError:
            assert any(what in _error(part) for what in ("damaged", "no text"))


def test_pictures_alone_ask_for_text_recognition(tmp_path: Path) -> None:
    assert _error(pdf(_picture)).endswith("the PDF holds no text, only pictures")
    path = write_file(tmp_path / "a.pdf", pdf(_picture))
    assert 'pip install "kgp-neo4j[ocr]"' in told_without("rapidocr", path)


def test_an_encrypted_file_needs_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _lines("Some text.")
    locked = pdf(text, encrypt=StandardEncryption("sesame", canPrint=0))
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    assert PASSWORD_VARIABLE in _error(locked)
    monkeypatch.setenv(PASSWORD_VARIABLE, "wrong-one")
    message = _error(locked)
    assert "password" in message
    assert "wrong-one" not in message
    monkeypatch.setenv(PASSWORD_VARIABLE, "sesame")
    assert read(locked).text == "Some text.\n\n"
    monkeypatch.delenv(PASSWORD_VARIABLE)
    owner_only = pdf(text, encrypt=StandardEncryption("", ownerPassword="owner"))
    assert read(owner_only).text == "Some text.\n\n"


_MEASURE = """
import resource, sys
from pathlib import Path
from kgp_neo4j.corpus.load.pdf.document import read_pdf
def most():
    # On Linux, ru_maxrss is that of the process which started this one, where that was larger.
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def peak(name):
    with Path(name).open("rb") as file:
        document = read_pdf(file, Path(name))
    return len(document.pages), most()
few, low = peak(sys.argv[1])
many, high = peak(sys.argv[2])
print(few, many, high - low)
"""


@pytest.mark.slow
def test_500_pages_take_hardly_more_memory_than_50(tmp_path: Path) -> None:
    def chapter(number: int) -> Draw:
        return _lines(*(prose(9, number + at) for at in range(3)), f"page {number}")

    files = [write_file(tmp_path / f"{n}.pdf", pdf(*map(chapter, range(n)))) for n in (50, 500)]
    told = output(sys.executable, "-c", _MEASURE, *map(str, files))
    few, many, more = map(int, told.split())
    assert (few, many) == (50, 500)
    assert more < 40_000  # kilobytes; all pages' letters would take ten times as much


_SEEN = "BT /F 12 Tf 72 700 Td (Seen on the page.) Tj ET "
_SECRET = "BT /F 12 Tf 72 100 Td (Secret) Tj ET"
_ROWS = [("Ship", "Length", "Weight"), ("Sula", "12,40 m", "2.350 t"), ("Tarva", "9,85 m", "980 t")]


@pytest.mark.parametrize("apart", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("ruled", [True, False])
def test_letters_set_apart_are_words(apart: int, ruled: bool) -> None:
    def draw(page: Page) -> None:
        for y, row in zip((90, 120, 136, 152), [("The hull of the Sula",), *_ROWS], strict=True):
            for x, text in zip((72, 220, 380), row, strict=False):
                line = page.canvas.beginText(x, HEIGHT - y)
                line.setFont("Helvetica", 10)
                line.setCharSpace(apart)
                line.textLine(text)
                page.canvas.drawText(line)
            for at in range(2 * ruled * (y > 90)):
                page.canvas.line(66, HEIGHT - y - 4 + 16 * at, 500, HEIGHT - y - 4 + 16 * at)

    document = read(pdf(draw))
    assert document.text.startswith("The hull of the Sula\n")
    assert [table.rows for table in document.tables] == [tuple(_ROWS)]


def test_letters_drawn_one_by_one_are_words() -> None:
    def draw(page: Page) -> None:
        x = 72.0
        for letter in "letters put one by one":
            if letter != " ":
                page.line(x, 90, letter)
            x += page.canvas.stringWidth(letter, "Times-Roman", 10) + 2.5

    assert read(pdf(draw)).text == "letters put one by one\n\n"


def test_shapes_of_letters_become_letters() -> None:
    letters = "office \u0644\u0627\u064b\u05e9\u05c1 x² Ⅷ"
    assert plain_letters("o\ufb03ce \ufefb\ufe70\ufb2a x² Ⅷ") == letters


def _texts(texts: dict[int, str]) -> bytes:
    """Return a font's table of texts: ASCII, and those given."""
    chars = {**{code: chr(code) for code in range(32, 127)}, **texts}
    lines = (f"<{code:02X}> <{text.encode('utf-16-be').hex()}>" for code, text in chars.items())
    head = "1 begincodespacerange\n<00> <FF>\nendcodespacerange\n"
    table = f"{head}{len(chars)} beginbfchar\n{chr(10).join(lines)}\nendbfchar"
    return stream("", table.encode())


@pytest.mark.parametrize("text", ["\ufb01", "\x00", "\x03", "\ue001", ""])
@pytest.mark.parametrize("names", ["/fi", "/g7"])
def test_a_ligature_is_whole_or_told(text: str, names: str) -> None:
    font = "/BaseFont/Helvetica/ToUnicode 6 0 R/Encoding<</Differences[128" + names + "]>>"
    content = "BT /F 12 Tf 72 700 Td (The \x80rst of\x80cer.) Tj ET"
    document = read(written(content, _texts({128: text}), font=font))
    if names == "/fi" or text == "\ufb01":
        assert (document.text, document.left_out) == ("The first officer.\n\n", ())
    else:
        assert "rst" in document.text
        assert document.left_out == ("2 letters of page 1 have no text in their font",)


@pytest.mark.parametrize(
    ("content", "entries"),
    [
        (f"1 g {_SECRET}", {}),
        (f"3 Tr {_SECRET}", {}),
        (f"q 0 0 50 50 re W n {_SECRET} Q", {}),
        (f"{_SECRET} 0 g 60 90 200 30 re f", {}),
        (_SECRET, {"page": "/CropBox[50 300 500 750]"}),
        (_SECRET.replace("72 100", "700 900"), {}),
        (f"/G gs {_SECRET}", {"resources": "/ExtGState<</G<</ca 0>>>>"}),
        (
            f"/OC /L BDC {_SECRET} EMC",
            {"resources": "/Properties<</L 6 0 R>>",
             "catalog": "/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>"},
        ),
    ],
    ids=["white", "inkless", "clipped", "covered", "cropped", "outside", "clear", "layer"],
)  # fmt: skip
def test_what_is_not_seen_is_counted(content: str, entries: dict[str, str]) -> None:
    document = read(written(_SEEN + content, b"<</Type/OCG/Name(L)>>", **entries))
    assert document.text == "Seen on the page.\n\n"
    assert document.left_out == ("6 letters of page 1 cannot be seen",)


def test_what_is_seen_is_read() -> None:
    scan = "/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8"
    text_layer = f"q 612 0 0 792 0 0 cm /I Do Q 3 Tr {_SECRET}"
    document = read(written(text_layer, stream(scan, b"x"), resources="/XObject<</I 6 0 R>>"))
    assert document.text == "Secret\n\n"
    assert read(written(f"60 90 200 30 re f 1 g {_SECRET}")).text == "Secret\n\n"
    actual = _SEEN.replace("(Seen", "(S) Tj /Span<</ActualText(ee)>> BDC (#) Tj EMC (n")
    assert read(written(actual)).text == "Seen on the page.\n\n"
    field = b"<</Subtype/Widget/FT/Tx/Rect[72 600 300 620]/F 4/AP<</N 7 0 R>>>>"
    look = stream("/Subtype/Form/BBox[0 0 228 20]", b"BT /F 12 Tf 2 5 Td (Filled in) Tj ET")
    form = {"page": "/Annots[6 0 R]", "catalog": "/AcroForm<</Fields[6 0 R]>>"}
    look = look.replace(b"/BBox", b"/Resources<</Font<</F 5 0 R>>>>/BBox")
    assert "Filled in" in read(written(_SEEN, field, look, **form)).text
    field = field.replace(b"/AP<</N 7 0 R>>", b"/V(Typed in)")
    assert "Typed in" in read(written(_SEEN, field, **form)).text


_PORT = "الميناء يفتح في التاسعة، Dock 7 (قرب 18:30)."
#: As it stands on the page from left to right, and the letters of the first word in their shapes.
_STANDING = ".(18:30 برق) Dock 7 ،ةعساتلا يف حتفي ءانيملا"
_SHAPED = _STANDING.replace("ءانيملا", "\ufe80\ufe8e\ufee8\ufef4\ufee4\ufedf\ufe8d")


@pytest.mark.parametrize(
    ("drawn", "text", "is_leftward"),
    [
        (_STANDING, _PORT, False),
        (_SHAPED, _PORT, False),
        (_STANDING, _PORT, True),
        (_PORT, _PORT, False),
        ("Dock 7 ףיצר ,9:00 העשב חתפנ למנה", "הנמל נפתח בשעה 9:00, רציף Dock 7", False),
        ("دنک‌یم یگدنز جرب رد نابهگن", "نگهبان در برج زندگی می‌کند", False),
    ],
    ids=["standing", "shaped", "drawn leftward", "in reading order", "Hebrew", "Persian"],
)
def test_text_from_right_to_left(drawn: str, text: str, is_leftward: bool) -> None:
    codes = {
        letter: 128 + at for at, letter in enumerate(dict.fromkeys(re.sub("[ -~]", "", drawn)))
    }
    shown = "".join(chr(codes.get(letter, ord(letter))) for letter in drawn)
    widths = f"/BaseFont/Harbour/FirstChar 32/LastChar 255/Widths[{'500 ' * 224}]"
    table = _texts({code: letter for letter, code in codes.items()})
    strings = [(72, shown)]
    if is_leftward:  # as programs draw text in reading order
        strings = [(72 + 6 * at, letter) for at, letter in enumerate(shown)][::-1]
    safe = ((x, re.sub(r"([()])", r"\\\1", part)) for x, part in strings)
    content = "".join(f"BT /F 12 Tf {x} 700 Td ({part}) Tj ET " for x, part in safe)
    document = read(written(content, table, font=f"/ToUnicode 6 0 R{widths}"))
    assert document.text == f"{text}\n\n"


@pytest.mark.parametrize("style", [RULED, LEVEL, []], ids=["ruled", "level", "open"])
@pytest.mark.parametrize("turn", [90, 270])
def test_a_turned_table_on_an_upright_page(style: list, turn: int) -> None:
    def draw(page: Page) -> None:
        page.text(72, 72, 460, prose(50))
        page.canvas.translate(*((400, 250) if turn == 90 else (200, 500)))
        page.canvas.rotate(turn if turn == 90 else -90)
        page.table(0, HEIGHT - 80, [*_ROWS, ("Hesk", "15,10 m", "1.120 t")], [90, 70, 70], style)
        page.line(0, HEIGHT - 90, "Table 7. Turned by the printer")

    document = read(pdf(draw))
    assert document.text.startswith(f"{prose(50)}\n\nTable 7. Turned by the printer\n\n| Ship |")
    (table,) = document.tables
    assert (len(table.rows), table.rows[1], table.number) == (4, _ROWS[1], "7")


def test_footnotes_are_at_the_end_of_the_page() -> None:
    def draw(page: Page) -> None:
        page.text(72, 72, 220, prose(150))
        page.text(312, 72, 220, prose(150, 4))
        page.line(72, 660, "1 The first note of the page.", 7)
        page.line(72, 668, "2 The second note, which", 7)
        page.line(72, 676, "goes on.", 7)

    notes = "1 The first note of the page.\n\n2 The second note, which goes on.\n\n"
    assert read(pdf(draw)).text == f"{prose(150)}\n\n{prose(150, 4)}\n\n{notes}"


def test_a_damaged_page_is_told_and_the_others_are_kept() -> None:
    pages = [lambda page, at=at: page.text(72, 90, 460, prose(40, at)) for at in range(3)]
    whole = bytearray(pdf(*pages, pageCompression=1))
    begin = [found.end() for found in re.finditer(rb"(?<!end)stream\r?\n", bytes(whole))][1]
    whole[begin + 40 : begin + 60] = b"\0" * 20
    document = read(bytes(whole))
    assert document.text == f"{prose(40, 0)}\n\n{prose(40, 2)}\n\n"
    assert document.left_out == ("page 2: damaged, it could not be read",)


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
    rows = [row.split() for row in ("Town 1901 1902", "Sund 12 40", "Moss 12 41", "Lund 40 12")]

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
            found += [
                bool(letters.locate(each)) for each in lines if page_pictures.plain_letters(each)
            ]
    assert len(found) > 100
    assert sum(found) >= 0.97 * len(found)


def test_a_damaged_file_and_a_page_that_is_not_there() -> None:
    with pytest.raises(CorpusError, match="page 1 cannot be shown"):
        draw_page(b"%PDF-1.7\nnothing", 1, 1.0)
    with pytest.raises(CorpusError, match="page 2 cannot be shown"):
        read_letters(written(""), 2)
