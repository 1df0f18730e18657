"""Questions that whole sentences answer: why and how, overviews, and those in other languages."""

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import regex

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.types.corpus import Passage, SupportingSentence

#: "How many" and "how old" ask for a few words.
_ACCOUNT = regex.compile(
    r"(?i)^\W*(?:(?:and|so|but)\s+)?(?:why|explain|describe|for what reason|in what way|"
    r"what (?:happened|(?:is|was) the (?:reason|purpose|cause)\b)|"
    r"how\s+(?:do|does|did|is|are|was|were|can|could|will|would|has|have|had|come|to))"
    r"|,\s*(?:and\s+)?(?:why|how) d(?:oes|id|o)\b"
)
_OVERVIEW = regex.compile(
    r"(?i)\b(?:gist|summar\w+|sum up|overview|in short|in brief|briefly|boil|nutshell|"
    r"(?:main|key) points?)\b|^what(?:'s| is| are)\b.*\babout\W*$|"
    r"^what(?:'s| is| are) in (?:this|these|those|the|all)\b"
)
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
#: A run of one kind of script, so that a Korean ending parts from the English word before it.
_RUN = regex.compile(
    rf"(?P<unspaced>{_UNSPACED}+)|[[\p{{L}}\p{{N}}\p{{M}}]--{_UNSPACED}]+", regex.V1
)
#: Characters of a piece (McNamee and Mayfield 2004: four in European languages, two in Asian ones),
#: and pieces of a sentence at least.
_PIECE, _UNSPACED_PIECE, _SHORTEST = 4, 2, 2
#: How much less a sentence counts for each passage before its own.
_LATER = 0.1


def asks_for_an_overview(question: str) -> bool:
    """Return whether a question asks what documents are about, which they always tell."""
    return _OVERVIEW.search(question) is not None


def asks_for_an_account(question: str) -> bool:
    """Return whether a question asks why or how: a sentence answers it, and a few words do not."""
    return _ACCOUNT.search(question) is not None


def is_in_latin_script(text: str) -> bool:
    """Return whether most words of a text are Latin; "Bridge노드의" is two words."""
    latin = regex.findall(r"\p{Latin}+", text)
    others = regex.findall(r"[\p{L}--\p{Latin}]+", text, regex.V1)
    return len(latin) > len(others) or not others


def nearest_sentences(question: str, passages: Sequence[Passage]) -> tuple[SupportingSentence, ...]:
    """Return at most three sentences that have pieces of the question's words, the best first.

    The score, from 0 to 1, is the share of the question's pieces that a sentence has, each by its
    rarity among the sentences; pieces are runs of characters, so that other forms of a word count.
    """
    places = {
        (at, start, end): pieces
        for at, passage in enumerate(passages)
        for start, end in sentences(passage.text)
        if len(pieces := _pieces(passage.text[start:end])) >= _SHORTEST
        and not passage.text.startswith("#", start)
    }
    frequency = Counter(chain.from_iterable(map(set, places.values())))
    asked = set(_pieces(question))
    rarity = {piece: math.log(1 + len(places) / max(1, frequency[piece])) for piece in asked}
    shares = {place: sum(map(rarity.__getitem__, asked & {*has})) for place, has in places.items()}
    highest = max(sum(rarity.values()), 1e-9)
    scores = {place: share / highest / (1 + _LATER * place[0]) for place, share in shares.items()}
    ranked = sorted((-score, *place) for place, score in scores.items() if score)
    return tuple(
        SupportingSentence(passages[at].text[a:b].strip(), passages[at].id, a, b, -score)
        for score, at, a, b in ranked[:3]
    )


def _pieces(text: str) -> list[str]:
    """Return all runs of so many characters within the words of a text; short words are whole."""
    pieces = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        size = _UNSPACED_PIECE if match["unspaced"] else _PIECE
        word = match[0]
        pieces += [word[at : at + size] for at in range(max(1, len(word) - size + 1))]
    return pieces
