"""Pages of PDF files as they look: pictures of them, and where words stand on them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_int
from io import BytesIO
from itertools import islice
from os import environ
from typing import Any
from unicodedata import normalize

import numpy as np
import pypdfium2.raw as pdfium
import regex
from pypdfium2 import PdfDocument, PdfiumError

from kgp_neo4j.corpus.load.pdf.document import PASSWORD_VARIABLE
from kgp_neo4j.corpus.load.pdf.letters import Box, Word, lines_of
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.types.errors import CorpusError

#: The most dots of a picture.
_DOTS = 8e6
#: Letters that the shortest run of words has to have, and the share of all that runs have to cover.
_SHORTEST, _SHARE = 6, 0.5
#: The gap that parts two boxes of a line, in sizes of its letters; and parts of a point told apart.
_GAP, _FINE = 1.0, 100
#: Places of a text that are looked at, and those of them (and boxes near) that are compared.
_LOOKED_AT, _PLACES = 5_000, 200
#: So many points to the side are less than one in height.
_FAR = 1e5
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_TABLE = regex.compile(r"(?:^\|.*\n?)+", regex.MULTILINE)


@contextmanager
def _opened(data: bytes, number: int) -> Iterator[Any]:
    """Open a page of a file, from 1 on, in PDFium; raises CorpusError where it cannot show it."""
    try:
        with PdfDocument(data, environ.get(PASSWORD_VARIABLE) or None) as file:
            file.init_forms()
            yield file[number - 1]
    except (PdfiumError, IndexError) as error:
        raise CorpusError(f"page {number} cannot be shown as a picture ({error})") from error


def draw_page(data: bytes, number: int, scale: float) -> bytes:
    """Return a page of a file as a PNG picture, `scale` dots a point, fewer for large pages."""
    with _opened(data, number) as page:
        width, height = page.get_size()
        scale = min(scale, (_DOTS / max(width * height, 1)) ** 0.5)
        image = page.render(scale=scale).to_pil()
    made = BytesIO()
    image.save(made, "PNG")
    return made.getvalue()


class _Order:
    """The letters of a page in one order."""

    def __init__(self, letters: Sequence[Word]) -> None:
        self.letters = letters
        self.text = "".join(letter.text for letter in letters)
        self._ends = {-1, *(at for at, letter in enumerate(letters) if letter.spaced)}
        self._ends.add(len(letters) - 1)

    def places(self, text: str) -> list[range]:
        """Return where some letters are, only as whole words if they are anywhere; not too many."""
        found = regex.finditer(regex.escape(text), self.text, overlapped=True)
        places = [range(*each.span()) for each in islice(found, _LOOKED_AT)]
        whole = [place for place in places if {place[0] - 1, place[-1]} <= self._ends]
        return (whole or places)[:_PLACES]

    def best(self, places: Sequence[range], near: Sequence[Box]) -> range:
        """Return the place that is nearest to one of some boxes, the first without any."""
        if not near:
            return places[0]
        firsts = (self.letters[place[0]] for place in places)
        a = np.array([[one.top, one.bottom, one.x0, one.x1] for one in firsts])[:, None]
        b = np.array([[one.top, one.bottom, one.x0, one.x1] for one in near[:_PLACES]])[None]
        gaps = np.maximum(a[..., ::2] - b[..., 1::2], b[..., ::2] - a[..., 1::2]).clip(0)
        apart = (gaps @ (_FAR, 1)).min(axis=1)
        return places[int(apart.argmin())]

    def runs(self, words: Sequence[str]) -> list[str]:
        """Return the longest runs of words that the page has, but for very short ones."""
        runs = [""]
        for word in words:
            if runs[-1] + word in self.text:
                runs[-1] += word
            else:
                runs.append(word if word in self.text else "")
        return [run for run in runs if len(run) >= _SHORTEST]

    def boxes(self, places: Iterable[range]) -> list[Box]:
        """Return the boxes of some letters, one for those that are side by side."""
        letters = {at: self.letters[at] for place in places for at in place}
        return [box for line in lines_of(letters.values()) for box in line.segments(_GAP)]


class PageLetters:
    """The letters and digits of a page, to find a text on it by these alone.

    All boxes are in points, from the top left corner of the page as it is shown. `letters` are in
    the order of the file, with `spaced` where a word ends.
    """

    def __init__(self, width: float, height: float, letters: Sequence[Word]) -> None:
        self.width, self.height = width, height
        # The order of the file, and that of lines: some draw a table column by column.
        level = [letter for line in lines_of(letters) for letter in line.words]
        self._orders = _Order(letters), _Order(level)

    def locate(self, text: str, near: Sequence[Box] = ()) -> list[Box]:
        """Return the boxes of a text, one for each piece of a line; none where it is not found.

        Of several places that is taken which is nearest to one of the boxes `near`. Where the whole
        is not found, its longest runs of words are, if they cover half of it.
        """
        words = [word for word in map(plain_letters, _WORD.findall(text)) if word]
        if not words:
            return []
        for order in self._orders:
            if places := order.places("".join(words)):
                return order.boxes([order.best(places, near)])
        found = [(order.runs(words), order) for order in self._orders]
        runs, order = max(found, key=lambda each: sum(map(len, each[0])) - len(each[0]))
        if sum(map(len, runs)) < _SHARE * sum(map(len, words)):
            return []
        chosen: list[range] = []
        for run in sorted(runs, key=len, reverse=True):
            chosen.append(order.best(order.places(run), near))
            near = near or order.boxes(chosen)
        return order.boxes(chosen)

    def places(self, text: str) -> list[Box]:
        """Return a box around each place of a text."""
        letters, order = plain_letters(text), self._orders[0]
        return [Box.around(order.boxes([p])) for p in order.places(letters)] if letters else []


def describe_page(
    content: bytes, number: int, page: Row, passage: str, words: Sequence[str], with_parts: bool
) -> dict[str, Any]:
    """Return a page with the boxes of a passage and of some words, and of its parts if asked for.

    `page` is a row of `inspect/page`. Words are sought near the passage, else near those before
    them, but not where text was recognised. Raises CorpusError where PDFium cannot read the page.
    """
    letters = read_letters(content, number)
    shown = {"width": letters.width, "height": letters.height, "pages": page["pages"]}
    shown |= {"label": page["label"], "recognised": page["recognised"], "marks": [], "parts": []}
    if page["recognised"]:
        return shown
    sought = [each for each in page["passages"] if with_parts or each["id"] == passage]
    lines = {each["id"]: letters.locate(each["text"]) for each in sought}
    near = lines.get(passage, [])
    if passage in lines:
        shown["marks"].append({"passage": passage, "boxes": near})
    for text, following in zip(words, [*words[1:], ""], strict=False):
        boxes = letters.locate(text, near or letters.places(following))
        shown["marks"].append({"words": text, "boxes": boxes})
        near = lines.get(passage) or boxes
    if with_parts:
        shown["parts"] = list(_parts(letters, page, lines))
    return shown


def _parts(
    letters: PageLetters, page: Row, lines: Mapping[str, list[Box]]
) -> Iterator[dict[str, Any]]:
    """Yield the passages, headings and tables of a page, each with the boxes of its blocks."""
    passages = page["passages"]
    for each in passages:
        yield {"kind": "passage", "passage": each["id"], "boxes": _blocks(lines[each["id"]])}
    tables = _TABLE.finditer("".join(each["text"] for each in passages))
    inside = [("heading", each["start"], each["title"]) for each in page["headings"]]
    inside += [("table", page["start"] + table.start(), table.group()) for table in tables]
    for kind, start, text in inside:
        owner = [each["id"] for each in passages if each["start"] <= start][-1]
        boxes = letters.locate(text, lines[owner])
        boxes = [Box.around(boxes)] if boxes and kind == "table" else _blocks(boxes)
        yield {"kind": kind, "passage": owner, "boxes": boxes}


def _blocks(lines: Iterable[Box]) -> list[Box]:
    """Return the boxes of lines with those joined that stand close to each other."""
    blocks: list[Box] = []
    for line in lines:
        close = []
        for block in blocks:
            upright = max(0.0, block.top - line.bottom, line.top - block.bottom)
            if max(upright, block.x0 - line.x1, line.x0 - block.x1) < line.height:
                close.append(block)
        blocks = [block for block in blocks if block not in close]
        blocks.append(Box.around([*close, line]))
    return blocks


def plain_letters(text: str) -> str:
    """Return the letters and digits of a text, without accents and case."""
    return "".join(filter(str.isalnum, normalize("NFKD", text).casefold()))


def read_letters(data: bytes, number: int) -> PageLetters:
    """Return the letters of a page of a file; raises CorpusError where PDFium cannot read it."""
    with _opened(data, number) as page:
        width, height = page.get_size()
        size = round(width * _FINE), round(height * _FINE)
        text, letters = page.get_textpage(), list[Word]()
        for at in range(text.count_chars()):
            own = plain_letters(chr(pdfium.FPDFText_GetUnicode(text, at)))
            if own:  # a ligature is several letters in one place
                box = _shown(page, size, text.get_charbox(at, loose=True))
                letters += [Word(letter, *box, size=box.height) for letter in own]
            elif letters:
                letters[-1].spaced = True
    return PageLetters(width, height, letters)


def _shown(page: Any, size: Sequence[int], box: Sequence[float]) -> Box:
    """Return the place of a box of the file on the page as shown: cropped and turned."""
    ends = []
    for x, y in (box[:2], box[2:]):
        across, down = c_int(), c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, across, down)
        ends.append((across.value / _FINE, down.value / _FINE))
    (a, b), (c, d) = ends
    return Box(min(a, c), min(b, d), max(a, c), max(b, d))
