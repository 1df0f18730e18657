"""Text files: their characters in whichever encoding, and the headings of Markdown and others."""

from __future__ import annotations

import re
from codecs import lookup
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from kgp_neo4j.corpus.load.contents import captioned, named
from kgp_neo4j.text.safe import is_visible, seen
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceSection, SourceTable

if TYPE_CHECKING:
    from markdown_it.token import Token

#: The Windows code pages of languages with Latin letters; of others it is that of the West.
_PAGES = {"tr": "cp1254", "az": "cp1254", "lt": "cp1257", "lv": "cp1257", "et": "cp1257"}
_PAGES |= dict.fromkeys("bs cs hr hu pl ro sk sl sq".split(), "cp1250")
#: What browsers read where these are declared, which have fewer characters.
_WIDER = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "shift_jis": "cp932"}
_WIDER |= {"gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949"}
#: Bytes of letters in Windows' code pages that ISO 8859 has no letters for.
_WINDOWS = re.compile(rb"[\x80-\x9f]")
_HIGH = re.compile(rb"[\x80-\xff]+")
#: Letters of other alphabets, and those that a wrong guess shows: half-width ones, parts of Hangul.
_OTHER = re.compile("[\u0370-\uffff]")
_ODD = re.compile("[\u3130-\u318f\uff61-\uffdc\ue000-\uf8ff]")
_USUAL = (
    "big5 cp1251 cp1253 cp1255 cp1256 cp874 cp932 cp949 euc_jis_2004 gb18030 koi8_r koi8_u".split()
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
#: The share of control characters, and of bytes that do not fit, from which a file is no text.
_MOST_CONTROLS, _MOST_FAULTS = 0.2, 0.1
#: Letters of a text at least whose language can be told.
_SHORT = 12
_SAMPLE = 100_000


def decoded(data: bytes, name: str, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file, and what was assumed about its encoding.

    That is the one of its byte order mark, else `declared`, else UTF-8, else a guess. Raises
    InputError for no text.
    """
    from bs4.dammit import EncodingDetector

    data, marked = EncodingDetector.strip_byte_order_mark(data)
    text = ""
    notes: tuple[str, ...] = ()
    if not data.isascii() or (declared or "").lower().startswith("utf-16"):
        with suppress(UnicodeError):
            data.decode()
            declared = None  # what a page says may be older than it
    for encoding in filter(None, (marked, declared, "utf-8")):
        with suppress(LookupError, ValueError):
            text = data.decode(_WIDER.get(lookup(encoding).name, encoding))
            if encoding == marked or _controls(text) < _MOST_CONTROLS:
                break
    else:  # UTF-16 without a mark has many control characters
        text, encoding = _guessed(data)
        notes = (f"the text is read as {encoding}, which is a guess",)
    if not is_visible(text) and not is_visible(data.decode(errors="ignore")):
        return "", ()
    if not text or _controls(text) >= _MOST_CONTROLS:
        hint = "Save it as text in UTF-8, or give its name the ending of its kind."
        raise InputError("not text in any known encoding", where=name, hint=hint)
    return seen(text), notes


def _controls(text: str) -> float:
    """Return the share of control characters at the beginning of a text."""
    return len(_CONTROLS.findall(text[:_SAMPLE])) / max(len(text[:_SAMPLE]), 1)


def _guessed(data: bytes) -> tuple[str, str]:
    """Return a text and the encoding that fits its bytes best; an empty text for none."""
    text = data.decode(errors="replace")
    faults = text.count("\ufffd")
    if faults <= _MOST_FAULTS * sum(map("\x7f".__lt__, text)) and "\0" not in text:
        return text, f"UTF-8 with {faults:,} bytes that are not"
    runs = _HIGH.findall(data)
    # Letters with accents are among plain ones; those of other alphabets follow one another.
    if "\0" not in text and sum(map(len, runs)) <= 2 * len(runs):
        encoding = _latin(data)
    else:
        encoding = _by_letters(data)
    return (data.decode(encoding, errors="replace"), encoding) if encoding else ("", "")


def _latin(data: bytes) -> str:
    from py3langid import classify

    if sum(map(str.isalpha, data.decode("ascii", errors="ignore"))) < _SHORT:
        return "cp1252"
    readings = (data.decode(page, errors="replace") for page in ("cp1252", "cp1250"))
    encoding = next(filter(None, (_PAGES.get(classify(text)[0]) for text in readings)), "cp1252")
    return "iso8859_2" if encoding == "cp1250" and not _WINDOWS.search(data) else encoding


def _by_letters(data: bytes) -> str:
    from charset_normalizer import from_bytes

    fits = {}
    for match in from_bytes(data):
        letters = "".join(c for c in str(match)[:50_000] if c > "\x7f" and c.isalpha())
        is_utf = match.encoding.startswith("utf")
        if is_utf or _OTHER.search(letters):
            odd = len(_ODD.findall(letters)) / max(len(letters), 1)
            unusual = not is_utf and match.encoding not in _USUAL
            fits[match.encoding] = match.chaos + odd + 0.05 * unusual
    return min(fits, key=lambda encoding: fits[encoding], default="")


# --- Markdown: the text is not changed ---

_LINE_END = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?P<values>(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_TITLE = re.compile(r"^title:[ \t]*+(?:[>|]\S?\s++)?+(?P<title>\S.*)", re.MULTILINE)
#: Characters of a heading at most; a longer one is a paragraph with a line drawn below it.
_LONGEST = 300


def read_markdown(text: str, where: str) -> SourceDocument:
    """Return a Markdown text with its title, sections and tables, placed in it as GitHub reads it.

    The title is that of the front matter, else the first heading of level one, or before any text.
    """
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(text)
    begin = front.end() if front else 0
    tokens = MarkdownIt("commonmark").enable("table").parse(text[begin:])
    starts = [begin, *(end.end() for end in _LINE_END.finditer(text, begin)), len(text)]
    if not any(is_visible(t.content) for t in tokens) and not front:
        text = ""  # "# " shows nothing
    sections, tables = [], []
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and not token.level and token.map:
            title = _plain(tokens[at + 1])
            if title and len(title) <= _LONGEST:
                sections.append(SourceSection(title, int(token.tag[1:]), starts[token.map[0]]))
        elif token.type == "table_open" and token.map:
            start, end = (starts[min(line, len(starts) - 1)] for line in token.map)
            end = start + len(text[start:end].rstrip("\r\n"))
            tables.append(_table(tokens[at:], start, end))
    titled = _TITLE.search(front["values"]) if front else None
    title = named(_unquoted(titled["title"].rstrip())) if titled else ""
    title = title or next((s.title for s in sections if s.level == 1), "")
    if not title and sections and not text[begin : sections[0].start].strip():
        title = sections[0].title
    found = captioned(text, tables)
    return SourceDocument(title, text, where, tables=found, sections=tuple(sections))


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" else text


def _table(tokens: Sequence[Token], start: int, end: int) -> SourceTable:
    rows: list[list[str]] = []
    for token in takewhile(lambda token: token.type != "table_close", tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_plain(token))
    heads = int(any(rows[0]))
    return SourceTable(tuple(map(tuple, rows[1 - heads :])), heads, start=start, end=end)


def _plain(token: Token) -> str:
    parts = []
    for part in token.children or ():
        is_break = part.type == "html_inline" and part.content.lower().startswith("<br")
        if is_break or part.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif part.type != "html_inline":
            parts.append(part.content)
    return " ".join("".join(parts).split())


# --- AsciiDoc and reStructuredText ---

#: A block whose lines are as they are, and a heading.
_AS_IT_IS = re.compile(r"-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,}")
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
#: A line of one sign, below a heading or on both sides of it.
_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")


def read_asciidoc(text: str, where: str) -> SourceDocument:
    """Return title and sections of an AsciiDoc text, with their places in it."""
    sections, block, at = [], "", 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if block or _AS_IT_IS.fullmatch(bare):
            block = "" if bare == block else block or bare
        elif found := _HEADING.fullmatch(line.rstrip()):
            mark, title = found.groups()
            if title.endswith((f" {mark}", f"\t{mark}")):
                title = title.removesuffix(mark).rstrip()
            sections.append(SourceSection(title, len(mark), at))
        at += len(line)
    return _document(text, where, sections)


def read_restructured_text(text: str, where: str) -> SourceDocument:
    """Return title and sections of a reStructuredText; levels are told by their first use."""
    sections: list[SourceSection] = []
    levels: dict[tuple[str, bool], int] = {}
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    for at in range(1, len(lines)):
        title, under = lines[at - 1].rstrip(), lines[at].rstrip()
        over = lines[at - 2].rstrip() if at > 1 else ""
        if (
            _LINE.fullmatch(under)
            and title.strip()
            and not _LINE.fullmatch(title)
            and len(under) >= len(title)
            and (not over or over == under)
        ):
            level = levels.setdefault((under[0], over == under), len(levels) + 1)
            begin = starts[at - 2 if over else at - 1]
            sections.append(SourceSection(title.strip(), min(level, 6), begin))
    return _document(text, where, sections)


def _document(text: str, where: str, sections: list[SourceSection]) -> SourceDocument:
    title = sections[0].title if sections and sections[0].level == 1 else ""
    return SourceDocument(title, text, where, sections=tuple(sections))
