"""Boundaries between characters as a person sees them (graphemes)."""

from __future__ import annotations

from unicodedata import category, combining

__all__ = ["inside_grapheme"]

_JOINER, _NON_JOINER = "\u200d", "\u200c"
_VIRAMA = 9  # the combining class of the sign that joins two Indic consonants


def inside_grapheme(text: str, offset: int) -> bool:
    """Return whether a cut at `offset` would split what a person sees as one character.

    It handles combining marks, variation selectors, joined emoji, skin tones, flags, Korean
    syllables written as letters, Indic conjuncts and Windows line ends. A cut at either end of the
    text never splits one.
    """
    if not 0 < offset < len(text):
        return False
    before, after = text[offset - 1], text[offset]
    if after < "\u0300":
        return (before, after) == ("\r", "\n") or before == _JOINER
    if category(before) in ("Cc", "Zl", "Zp"):
        return False
    if after in (_JOINER, _NON_JOINER) or before == _JOINER:
        return True
    if category(after) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if combining(before) == _VIRAMA and category(after) == "Lo":
        return True
    if "\u1160" <= after <= "\u11ff":
        return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, offset) % 2 == 1
    return False


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, offset: int) -> int:
    # A row of flags is short; the bound keeps a hostile text from making this slow.
    low = max(0, offset - 1_000)
    count = 0
    while offset - count > low and _is_flag_letter(text[offset - count - 1]):
        count += 1
    return count
