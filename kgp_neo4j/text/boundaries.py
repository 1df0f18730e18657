"""Tell where a sentence ends, and where a character as a person sees it (a grapheme)."""

import re
from unicodedata import category, combining

import regex

from kgp_neo4j.text.words import LISTS

_LEADING, _NUMBERED, _DOUBTFUL, _OPENERS = (
    frozenset(LISTS["abbreviations"][kind].split())
    for kind in ("leading", "numbered", "doubtful", "openers")
)
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘«—–/]*\Z")
_WORD_AFTER = re.compile(r"[\"'“‘«‹(\[{「『（*_`¿¡]*+(?P<word>\w*+)")
_ACRONYM = re.compile(r"(?:\w\.)+\w")
#: Letters before a stop that are read; a longer word is no abbreviation.
_LOOK_BACK = 32
# Marks of scripts that write no space after them.
_NEEDS_NO_SPACE = frozenset("。！？｡．。")
_JOINER = "\u200d"
_VIRAMA = 9  # the combining class of the sign that joins two Indic consonants
_GRAPHEME = regex.compile(r"\X")
#: Characters before a cut that are read: a row of flags has to be read from its beginning.
_FLAGS = 200


def ends_sentence(text: str, stop: int, visible_end: int, end: int) -> bool:
    """Return whether the mark at `stop` ends a sentence, so that the next one begins at `end`.

    `visible_end` is the offset after the mark and its closing quotes, `end` after the white space
    that follows; `0 < end < len(text)`.
    """
    mark = text[stop]
    if any(character in _NEEDS_NO_SPACE for character in text[stop : min(visible_end, stop + 3)]):
        return True
    match = _WORD_AFTER.match(text, end)
    after = match["word"] if match else ""
    before = _WORD_BEFORE.findall(text, max(0, stop - _LOOK_BACK), stop)[0]
    if visible_end == end:
        return mark in ".!?" and _is_glued(before, after, text, stop, visible_end)
    # "Yahoo! is", '"Why?" he asked' and "approx. five" continue the sentence.
    if after[:1].islower():
        return False
    if mark != "." or visible_end - stop > 1:
        return True
    return _stop_ends(before, after, text, stop)


def _stop_ends(before: str, after: str, text: str, stop: int) -> bool:
    """Decide for a single full stop between `before` and white space."""
    word = before.lower()
    if word in _LEADING:
        return False
    if word in _NUMBERED:
        return not after[:1].isdigit()
    is_initial = len(before) == 1 and before.isupper()  # "J. Smith", but "vitamin C. The"
    if is_initial or word in _DOUBTFUL or _ACRONYM.fullmatch(before):
        return after.lower() in _OPENERS
    if word.isdigit() and len(word) <= 3:
        start = stop - len(word)
        return not (start == 0 or text[start - 1] in "\n\r")  # "1. First" numbers an item
    return True


def _is_glued(before: str, after: str, text: str, stop: int, end: int) -> bool:
    """Decide for a mark without a space after it: 2WikiMultihopQA writes "of Elmham.The date"."""
    if end - stop > 3 or not before or "." in before or "/" in before or "@" in before:
        return False
    last = before[-1]
    if not (last == ")" or last.isdigit() or (len(before) > 1 and last.islower())):
        return False
    begins = len(after) > 1 and after[0].isupper() and after[1:].islower()
    if not begins and not (after in ("A", "I") and text[end : end + 2].endswith(" ")):
        return False
    # "Node.Js" and "example.Com" are names, not sentences: a name ends here or continues with a
    # stop.
    follows = text[end + len(after) : end + len(after) + 1]
    return follows not in (".", "/", "@", "(", "_")


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
    low = max(0, offset - _FLAGS)
    # Of a part: the whole would be read from its beginning each time.
    graphemes = _GRAPHEME.finditer(text[low : offset + 1])
    return all(low + grapheme.end() != offset for grapheme in graphemes)
