"""Count the letters of a text by their script, so that none is lost in silence."""

import unicodedata
from collections import Counter


def letters_by_script(text: str) -> Counter[str]:
    """Return how many letters and numbers of each script a text has, by their Unicode names."""
    plain = unicodedata.normalize("NFKC", text)
    return Counter(unicodedata.name(c, "?").split()[0] for c in plain if c.isalnum())
