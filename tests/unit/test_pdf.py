"""PDF files: text in reading order, pages, titles, and what cannot be read."""

import io
import sys
from pathlib import Path

import pdfplumber
import pytest
from commands import output
from graphs import write_file
from reading_files import told_without
from reportlab.lib.pdfencrypt import StandardEncryption
from small_pdfs import HEIGHT, WIDTH, Draw, Page, pdf, prose, read

from kgp_neo4j.corpus.load.pdf.document import PASSWORD_VARIABLE
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError


def _lines(*texts: str, x: float = 72, y: float = 90, step: float = 12) -> Draw:
    def draw(page: Page) -> None:
        for at, text in enumerate(texts):
            page.line(x, y + at * step, text)

    return draw


def _picture(page: Page) -> None:
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    page.canvas.drawImage(ImageReader(Image.new("RGB", (40, 40), "gray")), 100, 300, 300, 300)


# --- Text ---------------------------------------------------------------------------------------


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
            form.checkbox(
                name=name, tooltip="Agreed", x=x, y=HEIGHT - y - 2, size=12, checked=bool(checked)
            )
        for value, x in (("m", 100), ("y", 200)):
            form.radio(
                name="paid", value=value, selected=value == "y", x=x, y=HEIGHT - 162, size=12
            )
        form.textfield(name="n", value="Bertil", x=72, y=HEIGHT - 220, width=90, height=16)

    data = pdf(draw)
    if not has_looks:
        data = data.replace(b"/AP ", b"/Ap ")
    text = read(data).text
    assert text.split() == (
        "Insured: yes Trailer: no ☐ monthly ☒ yearly Bertil Agreed: yes".split()
    )


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


# --- Pages --------------------------------------------------------------------------------------


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

    with pdfplumber.open(io.BytesIO(pdf(draw))) as printed:
        picture = printed.pages[0].to_image(resolution=150).original
    scanned = pdf(
        _lines("Some text."), lambda page: page.canvas.drawInlineImage(picture, 0, 0, WIDTH, HEIGHT)
    )
    document = read(scanned)
    assert document.text == f"Some text.\n\nThe Great Ferry\n\n{prose(40)}\n\n"
    assert [page.recognised for page in document.pages] == [False, True]
    assert [(s.title, s.start) for s in document.sections] == [("The Great Ferry", 12)]
    assert document.left_out == ()


# --- Titles -------------------------------------------------------------------------------------


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
    assert _sections(document) == [
        ("1 Methods", 1),
        ("Sampling of Boats", 2),
        ("In Bold Alone", 2),
        ("Results", 1),
    ]


def test_the_outline_of_a_file_says_what_is_a_heading() -> None:
    def draw(page: Page) -> None:
        _report(page)
        for level, title in enumerate(("Methods", "Sampling of Boats")):
            page.canvas.bookmarkPage(title)
            page.canvas.addOutlineEntry(title, title, level)

    assert _sections(read(pdf(draw))) == [("1 Methods", 1), ("Sampling of Boats", 2)]


def test_without_a_heading_the_title_is_the_files_name() -> None:
    assert read(pdf(_lines("Some text.")), "my_report.pdf").title == "my report"


# --- What cannot be read ------------------------------------------------------------------------


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


# --- Large files, and the way through the loader ------------------------------------------------

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
    document = read_pdf(Path(name), Path(name).read_bytes())
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
