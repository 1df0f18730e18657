"""Sentences for a question in a language that the offline reader does not know."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import regex

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.text.term_index import TermIndex
from kgp_neo4j.types.corpus import Passage, SupportingSentence

__all__ = ["nearest_sentences"]

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
#: A run of one kind of script, so that a Korean ending parts from the English word before it.
_RUN = regex.compile(
    rf"(?P<unspaced>{_UNSPACED}+)|[[\p{{L}}\p{{N}}\p{{M}}]--{_UNSPACED}]+", regex.V1
)
#: Characters of a piece (McNamee and Mayfield 2004: four in European languages, two in Asian ones),
#: and pieces of a sentence at least.
_PIECE, _UNSPACED_PIECE, _SHORTEST = 4, 2, 2
#: BM25's k1, and how much less a sentence counts for each passage before its own.
_SATURATION, _LATER = 1.2, 0.1


def nearest_sentences(
    question: str, passages: Sequence[Passage], most: int = 3
) -> tuple[SupportingSentence, ...]:
    """Return at most `most` sentences that have pieces of the question's words, the best first.

    The score, from 0 to 1, is BM25 (`TermIndex`) over the sentences of these passages,
    whose terms are runs of characters, so that other forms of a word count too. A heading is no
    sentence, and one that shares nothing is left out.
    """
    places, texts = [], []
    for at, passage in enumerate(passages):
        for start, end in sentences(passage.text):
            pieces = _pieces(passage.text[start:end])
            if len(pieces) >= _SHORTEST and not passage.text.startswith("#", start):
                places.append((at, start, end))
                texts.append(pieces)
    index = TermIndex(texts, _SATURATION)
    asked = _pieces(question)
    highest = index.highest(asked)
    ranked = []
    for number, score in index.scores(asked).items():
        at, start, end = places[number]
        ranked.append((score / highest / (1 + _LATER * at), at, start, end))
    ranked.sort(key=lambda one: (-one[0], *one[1:]))
    return tuple(
        SupportingSentence(passages[at].text[start:end].strip(), passages[at].id, start, end, score)
        for score, at, start, end in ranked[:most]
    )


def _pieces(text: str) -> list[str]:
    """Return all runs of so many characters within the words of a text; short words are whole."""
    pieces = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        size = _UNSPACED_PIECE if match["unspaced"] else _PIECE
        word = match[0]
        pieces += [word[at : at + size] for at in range(max(1, len(word) - size + 1))]
    return pieces
