"""Small PDF files for tests, drawn with reportlab."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, Table

from kgp_neo4j.corpus.load.pdf.document import read_pdf
from kgp_neo4j.types.corpus import SourceDocument

WIDTH, HEIGHT = 612, 792

#: Table styles: ruled all over; only three level lines; no line at all.
RULED = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
LEVEL = [
    ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
    ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
    ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
]
OPEN: list[Any] = []
BOLD = [("FONT", (0, 0), (-1, 0), "Helvetica-Bold")]

_WORDS = (
    "the ferry crossed the sound twice a day until the long bridge was built and the keeper of the "
    "light moved to the northern island where the winters are mild and the harbour is never closed "
    "by ice while merchants from three towns met there each spring to trade wool salt and timber"
).split()


def prose(count: int, start: int = 0) -> str:
    """Return `count` words of running text."""
    words = [_WORDS[(start + 7 * at) % len(_WORDS)] for at in range(count)]
    return " ".join(words).capitalize() + "."


class Page:
    """A canvas counted from the top, in points."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas

    def line(
        self, x: float, y: float, text: str, size: float = 10, font: str = "Times-Roman"
    ) -> None:
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, HEIGHT - y, text)

    def text(self, x: float, y: float, width: float, text: str, size: float = 10) -> float:
        """Draw justified text; return where it ends."""
        style = ParagraphStyle(
            "p", fontName="Times-Roman", fontSize=size, leading=1.2 * size, alignment=TA_JUSTIFY
        )
        paragraph = Paragraph(text, style)
        _, height = paragraph.wrap(width, HEIGHT)
        paragraph.drawOn(self.canvas, x, HEIGHT - y - height)
        return y + height

    def table(
        self,
        x: float,
        y: float,
        rows: Sequence[Sequence[str]],
        widths: Sequence[float],
        style: Sequence[Any],
        size: float = 9,
    ) -> float:
        """Draw a table; return where it ends."""
        font = [("FONT", (0, 0), (-1, -1), "Helvetica"), ("FONTSIZE", (0, 0), (-1, -1), size)]
        pad = [("TOPPADDING", (0, 0), (-1, -1), 2), ("BOTTOMPADDING", (0, 0), (-1, -1), 2)]
        table = Table([*map(list, rows)], colWidths=list(widths), style=[*font, *pad, *style])
        _, height = table.wrapOn(self.canvas, WIDTH, HEIGHT)
        table.drawOn(self.canvas, x, HEIGHT - y - height)
        return y + height


#: Draws one page.
Draw: TypeAlias = Callable[[Page], object]


def pdf(*pages: Draw, **options: Any) -> bytes:
    """Return a PDF whose pages the given functions draw."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), **options)
    for draw in pages:
        draw(Page(canvas))
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def stream(entries: str, content: bytes) -> bytes:
    """Return a stream object of a PDF."""
    return f"<<{entries}/Length {len(content)}>>\nstream\n".encode() + content + b"\nendstream"


def written(content: str, *objects: bytes, font: str = "", **entries: str) -> bytes:
    """Return a PDF of one page with `content`, in the font F; `objects` are numbered from 6 on."""
    page, resources, catalog = (entries.get(key, "") for key in ("page", "resources", "catalog"))
    return _file(
        f"<</Type/Catalog/Pages 2 0 R{catalog}>>".encode(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R{page}"
        f"/Resources<</Font<</F 5 0 R>>{resources}>>>>".encode(),
        stream("", content.encode("latin-1")),
        f"<</Type/Font/Subtype/Type1{font or '/BaseFont/Helvetica'}>>".encode(),
        *objects,
    )


def _file(*objects: bytes) -> bytes:
    """Return a PDF file of objects that are numbered from 1 on; the first is its catalog."""
    numbered = (b"%d 0 obj\n%b\nendobj\n" % each for each in enumerate(objects, 1))
    return b"%PDF-1.7\n" + b"".join(numbered) + b"trailer\n<</Root 1 0 R>>\n%%EOF"


def read(data: bytes, name: str = "file.pdf") -> SourceDocument:
    """Return a PDF's document, its pages and tables checked to fit its text, with all letters."""
    document = read_pdf(io.BytesIO(data), Path(name))
    assert not any("are in no text" in what for what in document.left_out)
    assert [page.start for page in document.pages] == [0, *(p.end for p in document.pages[:-1])]
    assert document.pages[-1].end == len(document.text)
    for table in document.tables:
        assert len({len(row) for row in table.rows}) == 1
        assert len(table.row_pages) == len(table.rows)
        assert document.text[table.start : table.end].startswith("| ")
        for span in table.spans:
            texts = {
                table.rows[row][column]
                for row in range(span.row, span.row + span.rows)
                for column in range(span.column, span.column + span.columns)
            }
            assert len(texts) == 1
    return document


#: Fills a page with a pattern of a step so small that drawing it has no end.
ENDLESS = b"/Pattern cs /P scn 0 0 612 792 re f"


def written_pages(*contents: bytes) -> bytes:
    """Return a PDF file of pages with a line of text, or none after `%`, and these contents."""
    font = b"/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
    line = b"BT /F1 12 Tf 72 700 Td (The ferry sank.) Tj ET "
    tiles = "/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/Resources<<>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>"
        % (b" ".join(b"%d 0 R" % (4 + 2 * at) for at in range(len(contents))), len(contents)),
        stream(f"{tiles}/BBox[0 0 1 1]/XStep 0.001/YStep 0.001", b"0 0 1 1 re f"),
    ]
    for content in contents:
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<<%s/Pattern<</P 3 0 R>>>>>>" % (len(objects) + 2, font),
            stream("", content if content.startswith(b"%") else line + content),
        ]
    return _file(*objects)
