"""Tells what people read from what only machines do: base64, minified code, hex dumps, logs."""

import re

#: Characters without white space that words of no language have, and that nothing readable has.
_LONG, _LONGEST = 40, 200
#: A word of such a length made of letters alone, as where a PDF has lost its spaces; a formula; and
#: a run of punctuation, as before the page numbers of a table of contents.
_READABLE = re.compile(r"[^\W\d_]+(?:[.,;:!?'’()-]+[^\W\d_]*)*|.*[\\$^].*|[\W_]{0,9999}")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{2,16}[:,;]?")
_BYTES = re.compile(r"(?:0x)?(?=\w*\d)(?=\w*[a-fA-F])\w+[:,;]?")
#: A line's time with seconds, which logs have, near its beginning.
_TIMED = re.compile(r".{0,60}?(?:\d\d:\d\d:\d\d|\[ *\d+\.\d{3,}\])")
_WORD = re.compile(r"[\"'(]?[^\W\d_]++(?:[-'’][^\W\d_]*+)?[.,;:!?)\"']*")


def is_prose(text: str) -> bool:
    """Return whether people read such a text: prose, also tables, lists, formulas and code."""
    tokens = text.split()
    if not any(map(str.isalnum, text)):
        return False
    if 2 * sum(len(token) for token in tokens if _is_raw(token)) > sum(map(len, tokens)):
        return False
    hexes = [token for token in tokens if _HEX.fullmatch(token)]
    if len(tokens) > 15 and 10 * len(hexes) > 7 * len(tokens):
        return 5 * sum(bool(_BYTES.fullmatch(token)) for token in hexes) < len(hexes)
    lines = text.splitlines()
    timed = sum(bool(_TIMED.match(line)) for line in lines)
    words = sum(bool(_WORD.fullmatch(token)) for token in tokens)
    return not (timed > 3 and 10 * timed > 8 * len(lines) and 10 * words < 6 * len(tokens))


def _is_raw(token: str) -> bool:
    """Return whether a run of characters is too long for words, and no formula or rule."""
    if len(token) < _LONG or 5 * len(_FOREIGN.findall(token)) > len(token):
        return False
    return not _READABLE.fullmatch(token) or (len(token) >= _LONGEST and token[:1].isalnum())
