"""Makes a model's reply safe to show.

A terminal obeys escape sequences, a page obeys HTML, and a viewer of Markdown fetches images and
follows links. None of that is left in what is shown; the words stay.
"""

from __future__ import annotations

from collections.abc import Callable, Container

import regex

from kgp_neo4j.printable import printable

__all__ = ["Stream", "neutral"]

_IMAGE_OR_LINK = regex.compile(r"!?\[([^\[\]\n]{0,500})\]\(\s*<?[^()\s]{0,2000}[^()\n]{0,300}\)")
_REFERENCE = regex.compile(r"^[ \t]*\[[^\]\n]{1,200}\]:[ \t]*\S+.*$", regex.MULTILINE)
_TAG = regex.compile(r"</?[A-Za-z!][^<>]{0,2000}>|<!--.{0,5000}?-->", regex.DOTALL)
_ADDRESS = regex.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://|www\.)[^\s<>\"'`\])}]+|(?:javascript|vbscript|data):[^\s]+",
    regex.IGNORECASE,
)
_REMOVED = "(link removed)"
#: Links within links are taken apart so deep; what is left then is broken up.
_DEEP = 4


def neutral(text: str, known: Container[str] = "") -> str:
    """Return a reply as plain words: no escapes, HTML, images or links.

    Links keep their words, and a number its brackets, since it cites. An address stays only where
    it stands in `known`, the text of the passages: a model that was talked into it could carry
    words out in an address of its own.
    """
    made = printable(text)
    made = _REFERENCE.sub("", _TAG.sub(" ", made))
    for _ in range(_DEEP):
        made, found = _IMAGE_OR_LINK.subn(_words, made)
        if not found:
            break
    made = made.replace("](", "] (")

    def kept(found: regex.Match[str]) -> str:
        address = found.group().rstrip(".,;:!?")
        whole = str(found.group())
        return whole if address in known else _REMOVED + whole[len(address) :]

    return str(_ADDRESS.sub(kept, made))


def _words(link: regex.Match[str]) -> str:
    """Return the words of a link; those of a citation stay in their brackets."""
    said = link[1].strip(" ^")
    return f"[{said}]" if said.isdecimal() else str(link[1])


class Stream:
    """Hands a reply on while it is written, word by word, with nothing in it that is obeyed.

    Pieces may end anywhere, within an escape sequence or an address too, so that a word is held
    back until the white space after it.
    """

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show
        self._held = ""

    def write(self, piece: str) -> None:
        """Take a piece of the reply."""
        self._held += piece
        end = max(self._held.rfind(" "), self._held.rfind("\n")) + 1
        if end or len(self._held) > 2000:
            end = end or len(self._held)
            self._show(neutral(self._held[:end]))
            self._held = self._held[end:]

    def close(self) -> None:
        """Hand on what was held back."""
        if self._held:
            self._show(neutral(self._held))
        self._held = ""
