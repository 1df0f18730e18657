"""Pages of PDF files as they look: pictures of them, and where words stand on them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_int
from io import BytesIO
from os import environ
from typing import Any, NamedTuple
from unicodedata import normalize

import pypdfium2.raw as pdfium
import regex
from pypdfium2 import PdfDocument, PdfiumError

from kgp_neo4j.corpus.load.pdf.document import PASSWORD_VARIABLE
from kgp_neo4j.corpus.load.pdf.drawing import DRAWING
from kgp_neo4j.corpus.load.pdf.letters import Box
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.types.errors import CorpusError

#: The most dots of a picture.
_DOTS = 8e6
#: Letters that the shortest run of words has to have, and the share of all that runs have to cover.
_SHORTEST, _SHARE = 6, 0.5
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_TABLE = regex.compile(r"(?:^\|.*\n?)+", regex.MULTILINE)


@contextmanager
def _opened(data: bytes, number: int) -> Iterator[Any]:
    """Open a page of a file, from 1 on, in PDFium; raises CorpusError where it cannot show it."""
    with DRAWING:
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


class _Letter(NamedTuple):
    """A letter or digit, its place, and whether it is the first and the last one of its word."""

    text: str
    box: Box
    first: bool
    last: bool


class _Order:
    """The letters of a page in one order."""

    def __init__(self, letters: Sequence[_Letter]) -> None:
        self.letters = letters
        self.text = "".join(letter.text for letter in letters)

    def places(self, text: str) -> list[range]:
        """Return where some letters are, only as whole words if they are anywhere."""
        places: list[range] = []
        at = self.text.find(text)
        while at >= 0:
            places.append(range(at, at + len(text)))
            at = self.text.find(text, at + 1)
        letters = self.letters
        whole = [p for p in places if letters[p[0]].first and letters[p[-1]].last]
        return whole or places

    def best(self, places: Sequence[range], near: Sequence[Box], share: float) -> range:
        """Return the place that is nearest to one of some boxes, else to a share of the page."""
        if not near or len(places) == 1:
            return min(places, key=lambda place: abs(place[0] - share * len(self.letters)))
        first = [(place, self.letters[place[0]].box) for place in places]
        return min(first, key=lambda each: min(_apart(each[1], box) for box in near))[0]

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
        """Return the boxes of some letters, with those joined that are side by side."""
        joined: list[Box] = []
        last: Box | None = None
        for box in (self.letters[at].box for place in places for at in place):
            if last is not None and _is_beside(last, box):
                joined[-1] = Box.around([joined[-1], box])
            else:
                joined.append(box)
            last = box
        return joined


class PageLetters:
    """The letters and digits of a page, to find a text on it by these alone.

    `width` and `height` and all boxes are in points, from the top left corner of the page as it is
    shown.
    """

    def __init__(self, width: float, height: float, letters: Sequence[_Letter]) -> None:
        self.width, self.height = width, height
        # As in the file, and from line to line: some files draw their tables column by column.
        self._orders = _Order(letters), _Order(_by_lines(letters))

    def locate(self, text: str, near: Sequence[Box] = (), share: float = 0.0) -> list[Box]:
        """Return the boxes of a text, one for each piece of a line; none where it is not found.

        Of several places that is taken which is nearest to one of the boxes `near`, else to the
        `share` of the page before it. Where the whole is not found, its longest runs of words are,
        if they cover half of it.
        """
        words = [word for word in map(plain_letters, _WORD.findall(text)) if word]
        if not words:
            return []
        for order in self._orders:
            if places := order.places("".join(words)):
                return order.boxes([order.best(places, near, share)])
        runs, order = max(
            ((order.runs(words), order) for order in self._orders),
            key=lambda found: sum(map(len, found[0])) - len(found[0]),
        )
        if not runs or sum(map(len, runs)) < _SHARE * sum(map(len, words)):
            return []
        found: set[tuple[int, int]] = set()
        for run in sorted(runs, key=len, reverse=True):
            place = order.best(order.places(run), near, share)
            found.add((place.start, place.stop))
            near = near or order.boxes([place])
        return order.boxes(range(*place) for place in sorted(found))

    def places(self, text: str) -> list[Box]:
        """Return a box around each place of a text."""
        letters, order = plain_letters(text), self._orders[0]
        return [Box.around(order.boxes([p])) for p in order.places(letters)] if letters else []


def _by_lines(letters: Sequence[_Letter]) -> list[_Letter]:
    """Return letters from line to line, and in each from left to right."""
    lines: list[list[_Letter]] = []
    for letter in sorted(letters, key=lambda each: each.box.top + each.box.bottom):
        if lines and _is_level(lines[-1][0].box, letter.box):
            lines[-1].append(letter)
        else:
            lines.append([letter])
    return [letter for line in lines for letter in sorted(line, key=lambda each: each.box.x0)]


def describe_page(
    content: bytes, number: int, page: Row, passage: str, words: Sequence[str], with_parts: bool
) -> dict[str, Any]:
    """Return a page with the boxes of a passage and of some words, and of its parts if asked for.

    `page` is a row of `inspect/page`. Words are sought near the passage, else near those before
    them: a cell's text near the name of its row. Nothing is found on a page whose text was
    recognised. Raises CorpusError where PDFium cannot read the page.
    """
    letters = read_letters(content, number)
    shown = {"width": letters.width, "height": letters.height, "pages": page["pages"]}
    shown |= {"label": page["label"], "recognised": page["recognised"], "marks": [], "parts": []}
    if page["recognised"]:
        return shown
    length = max(page["end"] - page["start"], 1)
    lines = {
        each["id"]: letters.locate(each["text"], share=(each["start"] - page["start"]) / length)
        for each in page["passages"]
        if with_parts or each["id"] == passage
    }
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
        close = [block for block in blocks if max(_apart(block, line)) < line.height]
        blocks = [block for block in blocks if block not in close]
        blocks.append(Box.around([*close, line]))
    return blocks


def plain_letters(text: str) -> str:
    """Return the letters and digits of a text, without accents and case."""
    return "".join(filter(str.isalnum, normalize("NFKD", text).casefold()))


def _apart(one: Box, other: Box) -> tuple[float, float]:
    """Return how far two boxes are from each other: in height, and from side to side."""
    upright = max(0.0, one.top - other.bottom, other.top - one.bottom)
    return upright, max(0.0, one.x0 - other.x1, other.x0 - one.x1)


def _is_level(one: Box, other: Box) -> bool:
    """Return whether two boxes are beside each other in a line."""
    common = min(one.bottom, other.bottom) - max(one.top, other.top)
    return common > 0.5 * min(one.height, other.height)


def _is_beside(last: Box, box: Box) -> bool:
    """Return whether a letter is next to the last one of its line, also in text that is turned."""
    upright, aside = _apart(last, box)
    if _is_level(last, box):
        return aside < 1.5 * max(last.height, box.height)
    common = min(last.x1, box.x1) - max(last.x0, box.x0)
    return common > 0.5 * min(last.width, box.width) and upright < max(last.width, box.width)


def read_letters(data: bytes, number: int) -> PageLetters:
    """Return the letters of a page of a file; raises CorpusError where PDFium cannot read it."""
    with _opened(data, number) as page:
        width, height = page.get_size()
        text, place = page.get_textpage(), _placing(page, width, height)
        codes = (pdfium.FPDFText_GetUnicode(text, at) for at in range(text.count_chars()))
        plain = ["", *(plain_letters(chr(code)) for code in codes), ""]
        letters: list[_Letter] = []
        for at, (before, own, after) in enumerate(zip(plain, plain[1:], plain[2:], strict=False)):
            if own:  # a ligature is several letters in one place
                box = place(*text.get_charbox(at, loose=True))
                inside = [_Letter(letter, box, False, False) for letter in own]
                inside[0] = inside[0]._replace(first=not before)
                inside[-1] = inside[-1]._replace(last=not after)
                letters += inside
    return PageLetters(width, height, letters)


def _placing(page: Any, width: float, height: float) -> Callable[..., Box]:
    """Return what turns a box of the file into one of the page as shown: cropped and turned."""
    fine = 100

    def shown(x: float, y: float) -> tuple[float, float]:
        right, down = c_int(), c_int()
        size = round(width * fine), round(height * fine)
        pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, right, down)
        return right.value / fine, down.value / fine

    def place(left: float, low: float, right: float, high: float) -> Box:
        (a, b), (c, d) = shown(left, low), shown(right, high)
        return Box(min(a, c), min(b, d), max(a, c), max(b, d))

    return place
