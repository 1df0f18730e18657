"""Shared parts of the pages and pictures of answers: a page that loads nothing, escaped texts."""

from __future__ import annotations

import unicodedata
from html import escape

import regex

from kgp_neo4j.text.safe import plain, printable

__all__ = ["FONT", "escaped", "html_page", "mermaid_label", "width"]

#: Size in pixels of the letters of a picture.
FONT = 13
#: The style of every page; each adds its own.
_STYLE = """
:root{color-scheme:only light}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;
color:#1a1a1a;background:#fff}h1{font-size:1.3rem;white-space:pre-wrap;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin-top:1.8rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit}
.map{overflow-x:auto;border:1px solid #ddd;border-radius:6px}
.notice{border-left:4px solid #b26a00;padding:.4rem .8rem;background:#fff7e6}
table{border-collapse:collapse}
td,th{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top}
@media print{body{margin:0;max-width:none}.map{overflow:visible;border:0}
svg{max-width:100%;height:auto}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
_ITEM = regex.compile(r"\d*[-+*.)](?=\s|$)")


def html_page(title: str, body: str, style: str = "") -> str:
    """Return a page that needs no network: no script, and a policy that forbids it to load
    anything.

    `body` is HTML in which every text is escaped already; the title is escaped here.
    """
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width"><meta name="referrer" '
        f'content="no-referrer"><title>{escape(plain(title)[:80])}</title>'
        f"<style>{_STYLE}{style}</style></head><body>{body}</body></html>\n"
    )


def escaped(text: str) -> str:
    """Escape a text for HTML and SVG, between tags or within quotes."""
    return escape(printable(text))


def width(text: str, font: float = FONT) -> float:
    """Return the approximate width of a text in pixels; Chinese characters are twice as wide."""
    wide = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    return wide * font * 0.57


def mermaid_label(text: str) -> str:
    """Escape a text for a quoted label of Mermaid, whose entities are `#code;`.

    Markdown's list markers are escaped too: a label is no list.
    """
    text = plain(text)
    item = _ITEM.match(text)
    first = item.end() if item else 0
    return "".join(
        c if c.isalnum() or (at >= first and c in " .,-–+%/':()（），。、？！…") else f"#{ord(c)};"
        for at, c in enumerate(text)
    )
