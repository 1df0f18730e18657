"""Sentences for a question in a language that the offline reader does not know."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import regex

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.types.corpus import Passage, SupportingSentence

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
#: A run of one kind of script, so that a Korean ending parts from the English word before it.
_RUN = regex.compile(
    rf"(?P<unspaced>{_UNSPACED}+)|[[\p{{L}}\p{{N}}\p{{M}}]--{_UNSPACED}]+", regex.V1
)
#: Characters of a piece (McNamee and Mayfield 2004: four in European languages, two in Asian ones),
#: and pieces of a sentence at least.
_PIECE, _UNSPACED_PIECE, _SHORTEST = 4, 2, 2
#: BM25's k1 and b, and how much less a sentence counts for each passage before its own.
_SATURATION, _LENGTH, _LATER = 1.2, 0.75, 0.1


def nearest_sentences(question: str, passages: Sequence[Passage]) -> tuple[SupportingSentence, ...]:
    """Return at most three sentences that have pieces of the question's words, the best first.

    The score, from 0 to 1, is Okapi BM25 (Robertson and Zaragoza 2009) over the sentences of these
    passages, whose terms are runs of characters, so that other forms of a word count too.
    """
    places, texts = [], []
    for at, passage in enumerate(passages):
        for start, end in sentences(passage.text):
            pieces = _pieces(passage.text[start:end])
            if len(pieces) >= _SHORTEST and not passage.text.startswith("#", start):
                places.append((at, start, end))
                texts.append(pieces)
    scores = _scores(dict.fromkeys(_pieces(question)), texts)
    ranked = [
        (score / (1 + _LATER * at), at, start, end)
        for score, (at, start, end) in zip(scores, places, strict=True)
        if score > 0
    ]
    ranked.sort(key=lambda one: (-one[0], *one[1:]))
    return tuple(
        SupportingSentence(passages[at].text[start:end].strip(), passages[at].id, start, end, score)
        for score, at, start, end in ranked[:3]
    )


def _scores(asked: Iterable[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return the BM25 score of each text for the terms asked for, as a share of the highest one."""
    frequency = Counter(term for text in texts for term in set(text))
    rarity = {
        term: math.log(1 + (len(texts) - frequency[term] + 0.5) / (frequency[term] + 0.5))
        for term in asked
    }
    mean = sum(map(len, texts)) / max(1, len(texts))
    highest = max(sum(rarity.values()), 1e-9)
    scores = []
    for text in texts:
        counts, length = Counter(text), 1 - _LENGTH + _LENGTH * len(text) / mean
        shares = (rarity[t] * counts[t] / (counts[t] + _SATURATION * length) for t in rarity)
        scores.append(sum(shares) / highest)
    return scores


def _pieces(text: str) -> list[str]:
    """Return all runs of so many characters within the words of a text; short words are whole."""
    pieces = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        size = _UNSPACED_PIECE if match["unspaced"] else _PIECE
        word = match[0]
        pieces += [word[at : at + size] for at in range(max(1, len(word) - size + 1))]
    return pieces
