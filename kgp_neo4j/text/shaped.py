"""Letters that stand in a file as their printed shapes: Arabic and Hebrew forms, ligatures."""

from __future__ import annotations

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
