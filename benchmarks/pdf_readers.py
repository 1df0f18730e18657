"""Other readers of PDF files, to compare with ours: each returns a document of pages and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from kgp_neo4j.corpus.load.markdown import read_markdown
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourcePage, SourceTable


def _document(pages: Iterable[str], tables: Iterable[SourceTable] = ()) -> SourceDocument:
    text, found = "", []
    for number, page in enumerate(pages, 1):
        found.append(SourcePage(number, len(text), len(text) + len(page) + 1))
        text += page + "\n"
    return SourceDocument("", text, "", pages=tuple(found), tables=tuple(tables))


def _pdfplumber(path: Path) -> SourceDocument:
    import pdfplumber

    pages, tables = [], []
    with pdfplumber.open(path) as pdf:
        for page in pdf.pages:
            pages.append(page.extract_text(use_text_flow=True))
            for rows in filter(None, page.extract_tables()):
                cells = tuple(tuple(cell or "" for cell in row) for row in rows)
                tables.append(SourceTable(cells, row_pages=(page.page_number,) * len(cells)))
            page.close()
    return _document(pages, tables)


def _pypdfium2(path: Path) -> SourceDocument:
    from pypdfium2 import PdfDocument

    return _document(page.get_textpage().get_text_range() for page in PdfDocument(path))


def _docling_parse(path: Path) -> SourceDocument:
    from docling_core.types.doc.page import TextCellUnit
    from docling_parse.pdf_parser import DoclingPdfParser

    pages = DoclingPdfParser().load(str(path)).iterate_pages()
    lines = ([cell.text for cell in p.iterate_cells(TextCellUnit.LINE)] for _, p in pages)
    return _document(map("\n".join, lines))


def _liteparse(path: Path) -> SourceDocument:
    from liteparse import LiteParse

    parser = LiteParse(
        output_format="markdown", ocr_enabled=False, image_mode="off", quiet=True,
        keep_headers_footers=True,
    )  # fmt: skip
    pages = [page.markdown for page in parser.parse(path).pages]
    tables = []
    for number, text in enumerate(pages, 1):
        for table in read_markdown(text, "").tables:
            tables.append(SourceTable(table.rows, row_pages=(number,) * len(table.rows)))
    return _document(pages, tables)


READERS: dict[str, Callable[[Path], SourceDocument]] = {
    "pdfplumber": _pdfplumber,
    "pypdfium2": _pypdfium2,
    "docling-parse": _docling_parse,
    "liteparse": _liteparse,
}
