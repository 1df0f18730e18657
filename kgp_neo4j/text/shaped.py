"""Text that stands in a file as it is printed: shapes of letters, lines from right to left."""

import re
import unicodedata

#: Latin, Armenian and Hebrew ligatures, and the two blocks of Arabic presentation forms.
_SHAPED = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]")


def plain_letters(text: str) -> str:
    """Return a text with printed shapes of letters as the letters they are ("ﬁ" as "fi").

    These are the characters that Unicode's NFKC gives for them; a vowel sign that stands alone
    brings no blank. No other character changes.
    """
    return _SHAPED.sub(lambda shape: unicodedata.normalize("NFKC", shape[0]).lstrip(), text)


# --- From right to left ---

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
