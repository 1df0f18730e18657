"""What of a text can be seen; text in a file as it is printed: shapes, lines from right to left."""

import re
import unicodedata

import regex

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
