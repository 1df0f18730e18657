"""Other readers of PDF files to compare ours with: the texts of pages, and tables by page."""

from collections.abc import Iterable
from pathlib import Path

from kgp_neo4j.corpus.load.markdown import read_markdown
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourcePage, SourceTable

NAMES = ("pdfplumber", "pypdfium2", "docling-parse", "liteparse")
_Rows = tuple[tuple[str, ...], ...]


def read(name: str, path: Path) -> SourceDocument:
    """Return a file as the reader `name` gives it."""
    text, pages, tables = "", [], []
    for number, (page, found) in enumerate(_pages(name, path), 1):
        pages.append(SourcePage(number, len(text), len(text) + len(page) + 1))
        text += page + "\n"
        tables += [SourceTable(rows, row_pages=(number,) * len(rows)) for rows in found]
    return SourceDocument("", text, "", pages=tuple(pages), tables=tuple(tables))


def _pages(name: str, path: Path) -> Iterable[tuple[str, list[_Rows]]]:
    if name == "pdfplumber":
        import pdfplumber

        for page in pdfplumber.open(path).pages:
            tables = [
                tuple(tuple(cell or "" for cell in r) for r in t) for t in page.extract_tables()
            ]
            yield page.extract_text(use_text_flow=True), tables
    elif name == "pypdfium2":
        from pypdfium2 import PdfDocument

        for page in PdfDocument(path):
            yield page.get_textpage().get_text_range(), []
    elif name == "docling-parse":
        from docling_core.types.doc.page import TextCellUnit
        from docling_parse.pdf_parser import DoclingPdfParser

        for _, page in DoclingPdfParser().load(str(path)).iterate_pages():
            yield "\n".join(cell.text for cell in page.iterate_cells(TextCellUnit.LINE)), []
    else:
        from liteparse import LiteParse

        options = {"ocr_enabled": False, "image_mode": "off", "keep_headers_footers": True}
        for page in LiteParse(output_format="markdown", quiet=True, **options).parse(path).pages:
            yield page.markdown, [table.rows for table in read_markdown(page.markdown, "").tables]
