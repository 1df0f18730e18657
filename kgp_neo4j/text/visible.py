"""What of a text can be seen: blank texts, and invisible characters within words."""

import re

import regex

from kgp_neo4j.text.shaped import plain_letters

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
