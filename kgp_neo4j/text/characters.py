"""Boundaries between characters as a person sees them (graphemes)."""

from unicodedata import category, combining

import regex

_JOINER = "\u200d"
_VIRAMA = 9  # the combining class of the sign that joins two Indic consonants
_GRAPHEME = regex.compile(r"\X")
#: Characters before a cut that are read: a row of flags has to be read from its beginning.
_LOOK_BACK = 200


def inside_grapheme(text: str, offset: int) -> bool:
    """Return whether a cut at `offset` would split what a person sees as one character.

    Graphemes are those of Unicode (UAX 29), with Indic conjuncts and whatever a joiner joins. A cut
    at either end of the text never splits one.
    """
    if not 0 < offset < len(text):
        return False
    before, after = text[offset - 1], text[offset]
    if before == _JOINER or (combining(before) == _VIRAMA and category(after) == "Lo"):
        return True
    if after < "\u0300":
        return (before, after) == ("\r", "\n")
    low = max(0, offset - _LOOK_BACK)
    # Of a part: the whole would be read from its beginning each time.
    graphemes = _GRAPHEME.finditer(text[low : offset + 1])
    return all(low + grapheme.end() != offset for grapheme in graphemes)
