"""Tells a corpus's language, as far as its full-text index can stem it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

__all__ = ["DEFAULT_LANGUAGE", "LANGUAGES", "guess_language"]

#: The language of a corpus that is in no other known one.
DEFAULT_LANGUAGE = "english"
#: Neo4j's full-text analyzers that stem a language, by its ISO 639-1 code.
LANGUAGES = {
    "ar": "arabic", "bg": "bulgarian", "ca": "catalan", "cs": "czech", "da": "danish",
    "de": "german", "el": "greek", "en": "english", "es": "spanish", "eu": "basque",
    "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "gl": "galician",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "lv": "latvian", "nb": "norwegian", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
    "th": "thai", "tr": "turkish",
}  # fmt: skip
#: Texts that are looked at, and characters of each and of all at least: a few words can be of any
#: language.
_TEXTS, _CHARACTERS, _LEAST = 50, 2_000, 200


def guess_language(texts: Iterable[str]) -> str:
    """Return the language that most of the first texts are in, as `LANGUAGES` names it.

    It is English for short texts and for languages without an analyzer of their own; words of
    Chinese, Japanese and Korean have an index beside it. By py3langid (Lui and Baldwin, ACL 2012).
    """
    text = "\n".join(text[:_CHARACTERS] for text in islice(texts, _TEXTS))
    if len(text) < _LEAST:
        return DEFAULT_LANGUAGE
    from py3langid import classify  # 0.3 s: for the first load of a corpus alone

    return LANGUAGES.get(classify(text)[0], DEFAULT_LANGUAGE)
