"""Bounds of what a PDF may unpack to and draw: a file of 2 MB can say that it holds gigabytes."""

from __future__ import annotations

import zlib
from typing import Any

from pdfminer import pdftypes
from pdfminer.converter import PDFPageAggregator

#: Bytes that a stream may unpack to, and what a page may draw. Shapes beyond theirs are left out:
#: a page with so many has no ruled tables (`rules.py`), and its text is read all the same.
_BYTES, _LETTERS, _FORMS, _SHAPES = 64 << 20, 200_000, 10_000, 20_000
_STEP = 512


class TooMuchError(Exception):
    """A stream unpacks to too much, or a page draws too much."""


class BoundedDevice(PDFPageAggregator):
    """Gathers what a page draws, up to the bounds; raises TooMuchError beyond them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._letters = self._forms = self._shapes = 0
        #: The fonts of the letters by name.
        self.fonts: dict[Any, Any] = {}

    def render_char(self, matrix: Any, font: Any, *args: Any, **kwargs: Any) -> float:
        """Draw a letter."""
        self._letters += 1
        if self._letters > _LETTERS:
            raise TooMuchError
        self.fonts[font.fontname] = font
        return super().render_char(matrix, font, *args, **kwargs)

    def begin_figure(self, *args: Any, **kwargs: Any) -> None:
        """Begin a form; forms may lie in one another."""
        self._forms += 1
        if self._forms > _FORMS:
            raise TooMuchError
        super().begin_figure(*args, **kwargs)

    def paint_path(self, *args: Any, **kwargs: Any) -> None:
        """Draw a shape."""
        self._shapes += 1
        if self._shapes <= _SHAPES:
            super().paint_path(*args, **kwargs)


class _Unpacking:
    """What pdfminer uses of zlib, with a bound; of a damaged stream what comes before the fault."""

    error = zlib.error

    @staticmethod
    def decompress(data: bytes) -> bytes:
        unpack, parts, room = zlib.decompressobj(), [], _BYTES
        for at in range(0, len(data), _STEP):
            try:
                parts.append(unpack.decompress(data[at : at + _STEP], room))
            except zlib.error:
                break
            room -= len(parts[-1])
            if room <= 0 or unpack.unconsumed_tail:
                raise TooMuchError
        return b"".join(parts)


def bound_streams() -> None:
    """Make pdfminer unpack streams within the bound, in this process."""
    vars(pdftypes)["zlib"] = _Unpacking
