"""Letters of PDF files: set apart, ligatures, hidden ones, from right to left, turned, lost."""

import re

import pytest
from small_pdfs import HEIGHT, LEVEL, RULED, Page, pdf, prose, read, stream, written

from kgp_neo4j.text.visible import plain_letters

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


# --- From right to left -------------------------------------------------------------------------

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


# --- Turned and below ---------------------------------------------------------------------------


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
