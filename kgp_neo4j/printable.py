"""Text that others wrote, without what a terminal or a page would obey and nobody sees."""

from __future__ import annotations

import unicodedata

import regex

__all__ = ["plain", "printable"]

#: CSI and OSC sequences, of one or two bytes, and any other escape with the letter after it.
_ESCAPES = regex.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[PX^_][^\x1b\x9c\n]{0,4096}(?:\x1b\\|\x9c)?|\x1b."
)
#: Signs that end a line, as "\n" does.
_BREAKS = regex.compile(r"\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def printable(text: str) -> str:
    """Return a text without escape sequences, control characters and marks that turn its direction.

    Tabs and the ends of lines stay, these as "\\n"; half a surrogate pair, which is no text, goes.
    """
    bare = _ESCAPES.sub("", text.encode(errors="ignore").decode())
    return "".join(c for c in _BREAKS.sub("\n", bare) if c in "\n\t" or not _hidden(c))


def plain(text: str) -> str:
    """Return a text as `printable` does, on one line and with single spaces."""
    return " ".join(printable(text).split())


def _hidden(character: str) -> bool:
    """Whether a character is a control, a surrogate, or an invisible one that formats."""
    kind = unicodedata.category(character)
    # Joiners are part of words in several scripts, and of emoji.
    return kind in ("Cc", "Cs", "Cn", "Co", "Zl", "Zp") or (
        kind == "Cf" and character not in "\u200c\u200d"
    )
