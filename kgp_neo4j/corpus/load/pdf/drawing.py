"""What a page of a PDF draws: letters with their meaning, shapes, and which of them are seen."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from itertools import islice, pairwise
from statistics import median
from typing import Any

import numpy as np
from pdfminer import pdftypes
from pdfminer.converter import PDFLayoutAnalyzer
from pdfminer.encodingdb import EncodingDB
from pdfminer.layout import LTRect
from pdfminer.pdffont import PDFType3Font, TrueTypeFont
from pdfminer.pdfinterp import PDFPageInterpreter
from pdfminer.pdftypes import dict_value, list_value, resolve1, stream_value
from pdfminer.psparser import literal_name
from pdfminer.utils import MATRIX_IDENTITY, apply_matrix_rect, decode_text, mult_matrix

from kgp_neo4j.corpus.load.pdf.letters import SLANTED, UNKNOWN, Box, Word
from kgp_neo4j.text.words import stem

#: Bytes that a stream may unpack to, and what a page may draw. Shapes beyond theirs are left out:
#: a page with so many has no ruled tables (`cells.py`), and its text is read all the same.
_BYTES, _LETTERS, _SHAPES = 64 << 20, 200_000, 20_000
_STEP = 512
#: The flags of annotations that are hidden, or not for the screen.
_UNSEEN = 0b100010


class TooMuchError(Exception):
    """A stream unpacks to too much, or a page draws too much."""


@dataclass(slots=True)
class PageObjects:
    """The objects on a page, in points from its top left corner; `slanted` are curves and lines
    that are neither level nor upright, `shapes` all other lines and rectangles.
    """

    width: float
    height: float
    letters: list[Word] = field(default_factory=list)
    shapes: list[Box] = field(default_factory=list)
    slanted: list[Box] = field(default_factory=list)
    pictures: list[Box] = field(default_factory=list)
    #: A part of it could not be read.
    is_damaged: bool = False

    @property
    def has_picture(self) -> bool:
        """Return whether it shows something that is neither text nor a straight line."""
        return bool(self.pictures or self.slanted)


def objects_of(page: Any) -> PageObjects:
    """Return the objects on a page of pdfminer's, also letters that are not seen on it."""
    # pdfplumber's own lists of letters would take as long as everything else together.
    device, faults = _Device(page.pdf.rsrcmgr), _Unpacking.faults
    interpreter = PDFPageInterpreter(page.pdf.rsrcmgr, device)
    interpreter.process_page(page)
    own, is_lost = len(device.objects.letters), False
    for note in list_value(page.annots or []):
        try:
            _draw_note(dict_value(note), interpreter, device)
        except Exception:  # it is damaged; what is lost with a link or so is no text
            is_lost |= isinstance(note := resolve1(note), dict) and "FT" in note
    for letter in device.objects.letters[own:]:
        letter.unjudged = True  # PDFium shows not all of them
    is_lost |= "Contents" in page.attrs and not any(map(resolve1, page.contents))
    device.objects.is_damaged = is_lost or _Unpacking.faults > faults
    return device.objects


def _draw_note(note: Any, interpreter: PDFPageInterpreter, device: _Device) -> None:
    """Draw an annotation as it looks on its page: the text of a form's field, of a stamp."""
    kind = literal_name(note["Subtype"])
    if int(resolve1(note.get("F", 0))) & _UNSEEN or kind == "Popup":
        return
    x0, y0, x1, y1 = map(resolve1, list_value(note["Rect"]))
    box = device._box(*apply_matrix_rect(device.page_matrix, (x0, y0, x1, y1)))
    letters, text = device.objects.letters, ""
    before, flags = len(letters), int(_of_field(note, "Ff") or 0)
    if kind == "Widget" and literal_name(_of_field(note, "FT")) == "Btn" and not flags & _PUSHED:
        text = _choice(note, letters, box, bool(flags & _RADIO))
    elif "AP" in note:
        look = resolve1(dict_value(note["AP"])["N"])
        if isinstance(look, dict):
            look = resolve1(look[literal_name(note["AS"])])
        form = tuple(map(resolve1, list_value(look.get("Matrix", MATRIX_IDENTITY))))
        a0, b0, a1, b1 = apply_matrix_rect(form, tuple(map(resolve1, list_value(look["BBox"]))))
        wide, high = abs(x1 - x0) / ((a1 - a0) or 1), abs(y1 - y0) / ((b1 - b0) or 1)
        place = (wide, 0, 0, high, min(x0, x1) - a0 * wide, min(y0, y1) - b0 * high)
        matrix = mult_matrix(mult_matrix(form, place), device.page_matrix)
        resources = dict_value(look.get("Resources", {}))
        interpreter.subinterp().render_contents(resources, [look], ctm=matrix)
    if len(letters) == before and not text and not flags & _SECRET:
        # A viewer draws what a program filled in.
        given = _of_field(note, "V") if kind == "Widget" else None
        given = resolve1(note.get("Contents")) if kind == "FreeText" else given
        pairs = (resolve1(each) for each in resolve1(_of_field(note, "Opt")) or ())
        names = {str(resolve1(each[0])): each[1] for each in pairs if isinstance(each, list)}
        each = given if isinstance(given, list) else [given] if isinstance(given, bytes) else []
        shown = (resolve1(names.get(str(resolve1(value)), value)) for value in each)
        text = ", ".join(decode_text(value) for value in shown if isinstance(value, bytes))
    if text := " ".join(text.split()):
        letters.append(Word(text, *box, min(box.height, 10)))


#: The flags of fields that are passwords, radio buttons, and buttons that do something.
_SECRET, _RADIO, _PUSHED = 1 << 13, 1 << 15, 1 << 16
#: How far the label of a box is from it, in points: on its left, and on its right in its heights.
_LEFT, _RIGHT = 300, 4


def _of_field(note: Any, name: str) -> Any:
    """Return what a field says of itself, or what the fields say that it is a part of."""
    for _ in range(8):
        if name in note:
            return resolve1(note[name])
        note = resolve1(note.get("Parent"))
        if not isinstance(note, dict):
            break
    return None


def _choice(note: Any, letters: list[Word], box: Box, is_radio: bool) -> str:
    """Return how a check box or a radio button is set: a sign before its label, or yes and no."""
    looks = resolve1(dict_value(note.get("AP", {})).get("N"))
    states = {name for name in looks if name != "Off"} if isinstance(looks, dict) else set()
    own = resolve1(note.get("AS")) or _of_field(note, "V")
    state = literal_name(own) if own is not None else "Off"
    is_set = state != "Off" and ("AS" in note or not states or state in states)
    middle = (box.top + box.bottom) / 2
    line = [w for w in letters if w.text.strip() and w.top < middle < w.bottom]
    if any(-2 < w.x0 - box.x1 < _RIGHT * box.height for w in line) or is_radio:
        return "☒" if is_set else "☐"
    label = _of_field(note, "TU") or _of_field(note, "T")
    is_named = any(-2 < box.x0 - w.x1 < _LEFT for w in line) or not isinstance(label, bytes)
    return ("" if is_named else f"{decode_text(label)}: ") + ("yes" if is_set else "no")


# --- What is seen ---

#: Pages whose words are gathered at most.
_FIRST_PAGES = 2_000
#: A word of a text, hyphens and what PDFium writes for one at a line's end included.
_WRITTEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?P<broken>[-\x02\ufffe\xad])?")


def words_written(pdf: Any) -> set[str]:
    """Return the words of a file's first pages, hyphens in them, and stems with "*" behind them."""
    words = set[str]()
    with suppress(Exception):  # PDFium cannot read it
        for side in islice(pdf.shown, _FIRST_PAGES):
            is_broken = False
            for word in _WRITTEN.finditer(side.get_textpage().get_text_bounded().casefold()):
                if not is_broken and not word["broken"]:
                    words.add(word[0])
                is_broken = word["broken"] is not None
    return words.union(f"{stem(word)}*" for word in words if "-" not in word)


#: The least difference in a colour's light (of 255) that is seen, and the most dots of a picture.
_SEEN, _DOTS = 8, 8e6


def picture_of(page: Any, scale: float) -> Any:
    """Return a page as rows of dots in three colours, `scale` a point, fewer for large pages."""
    side = page.pdf.shown[page.number - 1]
    width, height = side.get_size()
    scale = min(scale, (_DOTS / max(width * height, 1)) ** 0.5)
    return side.render(scale=scale, rev_byteorder=True).to_numpy()[:, :, :3].copy()


def seen_words(page: Any, words: list[Word], objects: PageObjects) -> list[Word]:
    """Return the words that are seen on a page: where it shows two colours, or on a scan."""
    try:
        picture = picture_of(page, 1.0)
    except Exception:  # PDFium cannot show it
        return words
    scale = picture.shape[1] / objects.width

    def is_seen(word: Word, around: float = 0.0) -> bool:
        box = word.x0 - around, word.top - around, word.x1 + around, word.bottom + around
        x0, top, x1, bottom = (int(max(0.0, at * scale)) for at in box)
        part = picture[top : bottom + 1, x0 : x1 + 1]
        if not part.size or word.unjudged:
            return bool(part.size)
        is_scan = word.inkless and any(scan.holds(word) for scan in objects.pictures)
        one = part[:, :, 1]  # nearly all words are seen in one colour, which takes half the time
        is_dark = is_scan or int(one.max()) - int(one.min()) > _SEEN
        return is_dark or bool(np.ptp(part, axis=(0, 1)).max() > _SEEN)

    # Where none is seen, the fonts may say wrongly where their letters are.
    seen = [word for word in words if is_seen(word)]
    return seen or [word for word in words if is_seen(word, word.size)]


# --- What is recognised in a picture ---

_DOTS_PER_INCH = 250
#: The share of a box that its letters fill, and the least difference between two letter sizes.
_ROOM, _ALIKE = 0.8, 0.3


def recognised_words(page: Any, width: float) -> list[Word]:
    """Return the words in the picture of a page so many points wide, from its top left corner."""
    picture = picture_of(page, _DOTS_PER_INCH / 72)
    result = _engine()(picture)
    if result.txts is None:
        return []
    scale = width / picture.shape[1]
    boxes = [(*box.min(axis=0) * scale, *box.max(axis=0) * scale) for box in result.boxes]
    usual = median(bottom - top for _, top, _, bottom in boxes)
    words = []
    for (x0, top, x1, bottom), text in zip(boxes, result.txts, strict=True):
        height = bottom - top
        size = _ROOM * float(usual if abs(height - usual) < _ALIKE * usual else height)
        middle, step = float(top + bottom) / 2, float(x1 - x0) / max(len(text), 1)
        at = 0
        for word in text.split(" "):
            begin, at = float(x0) + at * step, at + len(word) + 1
            if word:
                box = (begin, middle - size / 2, begin + len(word) * step, middle + size / 2)
                words.append(Word(word, *box, size=size))
    return words


@lru_cache(maxsize=1)
def _engine() -> Any:
    from kgp_neo4j.environment.job import thread_count
    from kgp_neo4j.models.engine import import_openvino

    import_openvino()  # first, without the event that OpenVINO sends over the network
    from rapidocr import EngineType, RapidOCR

    engines = {f"{part}.engine_type": EngineType.OPENVINO for part in ("Det", "Cls", "Rec")}
    threads = {"EngineConfig.openvino.inference_num_threads": thread_count()}
    return RapidOCR(params={"Global.log_level": "critical", **threads, **engines})


# --- What is drawn ---

_BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|bx\d|[-,]bd\b", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|cmtt", re.IGNORECASE)
#: Letters at most for which one text of the file may stand.
_ACTUAL = 30
#: Letters set at a steeper slant are on no side; a string of them, so many points wide, is a stamp.
_SLANT, _STAMP = 0.3, 150


class _Device(PDFLayoutAnalyzer):
    """Gathers what a page draws, up to the bounds; raises TooMuchError beyond them."""

    ctm: Any

    def __init__(self, manager: Any) -> None:
        super().__init__(manager)
        self._letters = self._shapes = 0
        #: The letter before in a string.
        self._before: Word | None = None
        self._is_inkless = False
        #: The texts for the letters of the open tags: "" for none, None for one that is taken.
        self._tags: list[str | None] = [""]

    def begin_page(self, page: Any, ctm: Any) -> None:
        """Begin the page: what is shown of it is its crop box."""
        self.page_matrix = ctm
        x0, y0, x1, y1 = whole = apply_matrix_rect(ctm, page.mediabox)
        a0, b0, a1, b1 = apply_matrix_rect(ctm, page.cropbox)
        shown = max(x0, a0), max(y0, b0), min(x1, a1), min(y1, b1)
        self._shown = shown if shown[0] < shown[2] and shown[1] < shown[3] else whole
        self.objects = PageObjects(self._shown[2] - self._shown[0], self._shown[3] - self._shown[1])
        self.cur_item: Any = self

    def end_page(self, _: Any) -> None:
        """End the page, or a form or a picture."""

    end_figure = end_page

    def _box(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        left, top = self._shown[0], self._shown[3]
        return Box(x0 - left, top - y1, x1 - left, top - y0)

    def begin_tag(self, tag: Any, props: Any = None) -> None:
        known = resolve1(props)
        given = resolve1(known.get("ActualText")) if isinstance(known, dict) else None
        given = decode_text(given) if isinstance(given, bytes) else ""
        is_word = 0 < len(given) <= _ACTUAL and not any(map(str.isspace, given))
        self._tags.append(given if is_word else self._tags[-1])

    def end_tag(self) -> None:
        if len(self._tags) > 1:
            self._tags.pop()

    def begin_figure(self, name: str, bbox: Any, matrix: Any) -> None:
        self._figure = mult_matrix(matrix, self.ctm)

    def render_image(self, name: str, stream: Any) -> None:
        x0, y0, x1, y1 = apply_matrix_rect(self._figure, (0, 0, 1, 1))
        self.objects.pictures.append(self._box(x0, y0, x1, y1))

    def render_string(self, textstate: Any, seq: Any, ncs: Any, graphicstate: Any) -> None:
        self._before, self._is_inkless = None, textstate.render == 3
        super().render_string(textstate, seq, ncs, graphicstate)

    def render_char(
        self, matrix: Any, font: Any, fontsize: Any, scaling: Any, rise: Any, cid: Any, *_: Any
    ) -> float:
        self._letters += 1
        if self._letters > _LETTERS:
            raise TooMuchError
        if "known" not in vars(font):
            font.known = {"style": _style(font)}
        if cid not in font.known:
            font.known[cid] = _text_of(font, cid), font.char_width(cid)
        text, width = font.known[cid]
        bold, mono, height, is_embedded = font.known["style"]
        if (actual := self._tags[-1]) != "":
            text, self._tags[-1] = actual or "\u200b", None
        advance = width * fontsize * scaling
        a, b = matrix[:2]
        if font.is_vertical():
            vx, vy = font.char_disp(cid)
            left = -0.5 * fontsize if vx is None else -vx * fontsize * 0.001
            low = (1000 - vy) * fontsize * 0.001 + rise
            right, high, turn = left + fontsize, low + advance, 270
        else:
            low = max(font.get_descent(), -0.5 * height) * fontsize + rise
            left, right, high = 0.0, advance, low + height * fontsize
            turn = (0 if a >= 0 else 180) if abs(b) <= abs(a) else 90 if b > 0 else 270
        box = self._box(*apply_matrix_rect(matrix, (left, low, right, high)))
        if all(abs(at) < 1e6 for at in box):  # else it has no numbers as its place
            size = box.width if turn in (90, 270) else box.height
            if min(abs(a), abs(b)) > _SLANT * max(abs(a), abs(b)):
                if before := self._before:  # the whole string is one word
                    whole = Box.around([before, box])
                    before.x0, before.top, before.x1, before.bottom = whole
                    before.text += text
                    before.turn = SLANTED if whole.width > _STAMP else 0
                    return float(advance)
                turn, size = 0, 0.7 * size  # as the names of columns
            self._before = Word(text, *box, size, bold, mono, turn)
            self._before.inkless = self._is_inkless
            # PDFium has no letters of its own but Latin ones.
            self._before.unjudged = not is_embedded and text > "\u0250"
            self.objects.letters.append(self._before)
        return float(advance)

    def paint_path(self, *args: Any, **kwargs: Any) -> None:
        self._shapes += 1
        if self._shapes <= _SHAPES:
            super().paint_path(*args, **kwargs)

    def add(self, shape: Any) -> None:
        """Take a line or a shape that pdfminer made, unless it is outside the page."""
        box = self._box(*shape.bbox)
        if not Box(-2, -2, self.objects.width + 2, self.objects.height + 2).holds(box):
            return
        is_level = isinstance(shape, LTRect) or all(
            abs(a[0] - b[0]) < 1 or abs(a[1] - b[1]) < 1 for a, b in pairwise(shape.pts)
        )
        (self.objects.shapes if is_level else self.objects.slanted).append(box)


def _style(font: Any) -> tuple[bool, bool, float, bool]:
    """Return whether a font is bold, has letters of one width, how high they are (one, but for
    fonts drawn in the file), and whether the file has them.
    """
    widths, name = [width for width in font.widths.values() if width], str(font.fontname)
    is_even = len({*widths}) == 1 if len(font.widths) >= 8 else bool(_MONO.search(name))
    height, is_drawn = 1.0, isinstance(font, PDFType3Font)
    if is_drawn:
        tall = abs(font.bbox[3] - font.bbox[1]) * abs(font.vscale)
        height = tall or 2 * sum(widths) / max(len(widths), 1) * abs(font.hscale) or 1.0
    is_embedded = is_drawn or any(str(key).startswith("FontFile") for key in font.descriptor)
    return bool(_BOLD.search(name)), is_even, height, is_embedded


# --- What letters mean ---

#: The flag of a font with an order of letters of its own.
_SYMBOLIC = 4
#: Characters for private use that are signs of known forms.
_SIGNS = {"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "►", "\uf0fc": "✓"}


def _text_of(font: Any, cid: int) -> str:
    """Return a letter's text: of those in the file and its fonts the first that has a meaning."""
    for text in _texts_of(font, cid):
        text = _SIGNS.get(text, text)
        if text.isspace():
            return " "
        if text and all(unicodedata.category(c) not in ("Cc", "Co", "Cn", "Cs") for c in text):
            return text
    return UNKNOWN


def _texts_of(font: Any, cid: int) -> Iterator[str]:
    with suppress(Exception):  # it has none
        yield font.to_unichr(cid)
    names = getattr(font, "cid2unicode", {})
    is_guess = any(names is usual for usual in EncodingDB.encodings.values())
    if not (is_guess and font.flags & _SYMBOLIC):
        yield names.get(cid, "")
    if font.is_multibyte():
        if not hasattr(font, "own"):
            font.own = {}
            with suppress(Exception):  # the file lacks the font, or it is damaged
                data = stream_value(font.descriptor["FontFile2"]).get_data()
                font.own = TrueTypeFont("", BytesIO(data)).create_unicode_map().cid2unichr
        yield font.own.get(cid, "")


class _Unpacking:
    """What pdfminer uses of zlib, with a bound; of a damaged stream what comes before the fault."""

    error = zlib.error
    #: How many streams were damaged.
    faults = 0

    @staticmethod
    def decompress(data: bytes) -> bytes:
        unpack, parts, room = zlib.decompressobj(), [], _BYTES
        for at in range(0, len(data), _STEP):
            try:
                parts.append(unpack.decompress(data[at : at + _STEP], room))
            except zlib.error as error:  # a wrong sum at the end takes nothing away
                _Unpacking.faults += "data check" not in str(error)
                break
            room -= len(parts[-1])
            if room <= 0 or unpack.unconsumed_tail:
                raise TooMuchError
        return b"".join(parts)


def bound_streams() -> None:
    """Make pdfminer unpack streams within the bound, in this process."""
    vars(pdftypes)["zlib"] = _Unpacking
