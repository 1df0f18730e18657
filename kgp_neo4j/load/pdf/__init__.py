"""Reads PDF files: text in reading order, pages, and tables with their captions."""

from kgp_neo4j.load.pdf.reading import PASSWORD_VARIABLE, read_pdf

__all__ = ["PASSWORD_VARIABLE", "read_pdf"]
