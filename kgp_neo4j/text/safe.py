"""Clean text from others: remove what a terminal or a page would obey, and what is invisible."""

from collections.abc import Callable, Container

import regex

#: CSI and OSC sequences, of one or two bytes, and any other escape with the letter after it.
_ESCAPES = regex.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[PX^_][^\x1b\x9c\n]{0,4096}(?:\x1b\\|\x9c)?|\x1b."
)
#: Characters that end a line, as "\n" does.
_BREAKS = regex.compile(r"\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
#: Controls and what formats, but for joiners, which are part of words in several scripts, of emoji.
_HIDDEN = regex.compile(r"(?![\u200c\u200d\n\t])[\p{C}\p{Zl}\p{Zp}]")
#: Signs that mean something in Markdown.
_MARKDOWN = regex.compile(r"([\\`*_\[\]<>#|~])")


def printable(text: str) -> str:
    """Return a text without escapes, control characters, marks of direction and surrogates.

    Tabs and line ends stay, the latter as "\\n".
    """
    bare = _ESCAPES.sub("", text.encode(errors="ignore").decode())
    return str(_HIDDEN.sub("", _BREAKS.sub("\n", bare)))


def plain(text: str) -> str:
    """Return a text as `printable` does, on one line and with single spaces."""
    return " ".join(printable(text).split())


def as_markdown(text: str) -> str:
    """Return a text on one line, of which Markdown makes no link, picture, tag or heading."""
    return str(_MARKDOWN.sub(r"\\\1", plain(text)))


_IMAGE_OR_LINK = regex.compile(r"!?\[([^\[\]\n]{0,500})\]\(\s*<?[^()\s]{0,2000}+[^()\n]{0,300}+\)")
_REFERENCE = regex.compile(r"^[ \t]*\[[^\]\n]{1,200}\]:[ \t]*\S+.*$", regex.MULTILINE)
#: Tags of HTML. Those of a model's reasoning are none: in a reply they are spoken of. Nor is a type
#: behind another one, as in List<String>, which nothing closes.
_TAG = regex.compile(
    r"(?!(?<=\w)<\p{Lu}[\w, ]*>(?![^<]*</))"
    r"</?(?!(?:seed:)?(?:think|thinking|thought|reasoning)>)[A-Za-z!][^<>]{0,2000}>"
)
_COMMENT = regex.compile(r"<!--.*?-->", regex.DOTALL)
_ADDRESS = regex.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://|www\.)[^\s<>\"'`\])}]+|(?:javascript|vbscript|data):[^\s]+",
    regex.IGNORECASE,
)
#: Depth to which links within links are resolved; deeper ones are broken up.
_DEEP = 4


def neutral(text: str, known: Container[str] = "") -> str:
    """Return a reply as plain words: no escapes, HTML, images or links, but numbers in brackets.

    An address stays only where it occurs in `known`, the text of the passages: a model misled by a
    passage could send words out in an address that it makes up.
    """
    bare = printable(text)
    end = bare.rfind("-->") + 3  # behind it no comment ends, and none is looked for
    bare = _COMMENT.sub(" ", bare[:end]) + bare[end:]
    cleaned = _REFERENCE.sub("", _TAG.sub(" ", bare))
    for _ in range(_DEEP):
        cleaned, found = _IMAGE_OR_LINK.subn(_words, cleaned)
        if not found:
            break
    cleaned = cleaned.replace("](", "] (")

    def kept(found: regex.Match[str]) -> str:
        whole = str(found[0])
        address = whole.rstrip(".,;:!?")
        return whole if address in known else f"(link removed){whole[len(address) :]}"

    return str(_ADDRESS.sub(kept, cleaned))


def _words(link: regex.Match[str]) -> str:
    """Return the words of a link; those of a citation keep their brackets."""
    words = link[1].strip(" ^")
    return f"[{words}]" if words.isdecimal() else str(link[1])


class Stream:
    """Pass a reply on while it is written, cleaned: word by word, since pieces may end anywhere."""

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show
        self._held = ""

    def write(self, piece: str) -> None:
        """Add a piece of the reply."""
        self._held += piece
        end = max(self._held.rfind(" "), self._held.rfind("\n")) + 1
        if end or len(self._held) > 2000:
            end = end or len(self._held)
            self._show(neutral(self._held[:end]))
            self._held = self._held[end:]

    def close(self) -> None:
        """Pass on the words kept back."""
        if self._held:
            self._show(neutral(self._held))
        self._held = ""


def is_storable(text: str) -> bool:
    """Return whether a database can store the text: an unpaired surrogate is not a character."""
    return regex.search(r"\p{Cs}", text) is None


def cut(text: str, length: int) -> str:
    """Return a text on one line with at most `length` characters."""
    text = plain(text)
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
