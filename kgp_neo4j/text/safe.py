"""Clean text: what terminals and pages would obey, what is invisible, letters as printed; JSON."""

import dataclasses
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Container, Mapping
from pathlib import PurePath
from typing import Any

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
    end = bare.rfind("-->") + 3  # behind it no comment ends; what begins within one is in it
    first, *parts = bare[:end].split("<!--")
    bare = " ".join([first, *(p.partition("-->")[2] for p in parts if "-->" in p)]) + bare[end:]
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


# --- Text in a file as it is printed: shapes of letters, lines from right to left ---

#: Latin, Armenian and Hebrew ligatures, and the two blocks of Arabic presentation forms.
_SHAPED = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]")


def plain_letters(text: str) -> str:
    """Return a text with printed shapes of letters as the letters they are ("ﬁ" as "fi", NFKC)."""
    return _SHAPED.sub(lambda shape: unicodedata.normalize("NFKC", shape[0]).lstrip(), text)


_R = "\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefe"
LEFTWARD = re.compile(f"[{_R}]")
#: Words and numbers read from left to right, with what is between them.
_RIGHTWARD = re.compile(
    rf"(?<![^\W{_R}])[^\W{_R}]*[^\W\d_{_R}](?:[^{_R}]*(?:[^\W{_R}]|[%°)\]]))?"
    r"|[+\-−$€£₪﷼]?\d(?:[\d.,:/٫٬-]*\d)?[%°€]?"
)
#: Text from right to left within a line of letters from the left.
_PASSAGE = re.compile(f"[{_R}](?:[^a-zA-Z\u00c0-\u058f\u0900-\u1fff\u3040-\ud7ff]*[{_R}])?")
_MIRROR = str.maketrans("()[]{}<>«»", ")(][}{><»«")
#: Letters that stand only at the end of a word, and what joins or parts letters without a width.
_LAST, _FIRST = frozenset("ةىךםןףץ"), re.compile("^(?:ال|می\u200c)")
JOINERS = "\u200c\u200d"


def in_reading_order(line: str) -> str:
    """Return a line with text from right to left, given as it stands from left to right."""
    if 2 * len(LEFTWARD.findall(line)) < sum(map(str.isalpha, line)):
        return _PASSAGE.sub(lambda passage: _turned(passage[0]), line)
    return _turned(line)


def _turned(line: str) -> str:
    parts, at = [], 0
    for run in _RIGHTWARD.finditer(line):
        text = run[0]
        while text[-1] in ")]" and text.count(text[-1]) > text.count("(["[text[-1] == "]"]):
            text = text[:-1].rstrip()
        parts += [line[at : run.start()][::-1].translate(_MIRROR), text]
        at = run.start() + len(text)
    return "".join(reversed([*parts, line[at:][::-1].translate(_MIRROR)]))


def word_way(word: str) -> int:
    """Return whether a word's letters that are always its first or last ones stand as they do where
    it is read from the right (1) or from the left (-1), 0 where there are none.
    """
    ends = [c in _LAST or "FINAL FORM" in unicodedata.name(c, "") for c in (word[0], word[-1])]
    return ends[0] - ends[1] + bool(_FIRST.search(word[::-1])) - bool(_FIRST.search(word))


#: Letters, numbers, punctuation and symbols, without the fillers among them that show nothing.
_SEEN = regex.compile("[^\\p{Z}\\p{C}\\p{M}\u115f\u1160\u2800\u3164\uffa0]")
#: Control characters, soft hyphens and marks of direction.
_UNSEEN = (
    "\\x00-\\x08\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f"
    "\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
)
_TAGS, _VARIANTS = "\U000e0000-\U000e007f", "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MAYBE = re.compile(f"[{_UNSEEN}{_TAGS}{_VARIANTS}\u180e\u200b-\u200d]")
#: Joiners go where they join nothing: beside letters whose shapes they change, and in emoji, they
#: stay. Tags are seen after a flag only, and of variants the first.
_BARE = r"[\s\p{Latin}\p{Greek}\p{Cyrillic}\p{Nd}\p{P}]"
_DROPPED = regex.compile(
    f"[{_UNSEEN}]+|(?<=^|{_BARE})[\u180e\u200b-\u200d]+(?={_BARE}|$)"
    f"|(?<![\U0001f3f4{_TAGS}])[{_TAGS}]+|(?<=[{_VARIANTS}])[{_VARIANTS}]+"
)


def is_visible(text: str) -> bool:
    """Return whether a text has a character that a reader sees."""
    return _SEEN.search(text) is not None


def seen(text: str) -> str:
    """Return a text without invisible characters, printed shapes as letters, surrogates as "?"."""
    if text.isascii() and not _MAYBE.search(text):
        return text
    text = text.encode(errors="replace").decode()
    return plain_letters(_DROPPED.sub("", text) if _MAYBE.search(text) else text)


def parts(record: object, *names: str) -> dict[str, Any]:
    """Return some fields and properties of a record by name."""
    return {name: getattr(record, name) for name in names}


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """Return a record, or anything that contains records, as JSON."""
    return json.dumps(value, ensure_ascii=ascii_only, default=_plain)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return parts(value, *names, *getattr(value, "DERIVED", ()))
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Collection):
        return list(value)
    return float(value)  # a model's numbers may be NumPy's
