"""How far passages carry a sentence: its names, numbers, negation, words, and meaning.

A claim is compared with the few sentences of a passage that share most with it. Every number and
every name of it must stand there or in the passage's title, a "not" must be on both sides or on
neither, of its other words and its meaning (cosine of the sentence embeddings) enough must be
there, and something of each clause. A claim that repeats a sentence but for one word does not say
the same. The weights were chosen on sentences that the training questions prove true or false;
benchmarks/citations.py measures them, and what is hardly seen: another name of the same passage in
the place of the right one, and one word that says how two names are related.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

import regex

from kgp_neo4j.load import sentences
from kgp_neo4j.models import Encoder
from kgp_neo4j.records import Passage
from kgp_neo4j.structure.table_questions.words import DEMONYMS, NUMBERS, ORDINALS, stem
from kgp_neo4j.words import content_words, words

__all__ = ["Evidence", "Support", "denies"]

#: Sentences of one passage that a claim is compared with, and that are read at all.
_BEST, _MOST = 3, 60
#: What meaning counts beside words, and what both must come to; words alone without an encoder.
_MEANING = 0.5
_ENOUGH = 0.6
_ENOUGH_WORDS = 0.6
#: Words of a clause from which on one of them must be held.
_CLAUSE_WORDS = 2
#: Letters of a stem that count: `director` and `directed` say the same here.
_LETTERS = 6

_THOUSANDS = regex.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
_NEGATES = regex.compile(
    r"\b(?:not|no|never|neither|nor|without|none|nobody|nothing|cannot|unable|failed|false|denied|"
    r"refused|unlike)\b|n['’]t\b|[不没沒未无無非]",
    regex.IGNORECASE,
)
_CLAUSE = regex.compile(
    r"[,;:—–()!?]|\.\s|\b(?:but|although|though|while|whereas|which|who|and|because|however)\b",
    regex.IGNORECASE,
)
#: "One of them" counts nothing.
_VALUES = {name: str(value) for name, value in (NUMBERS | ORDINALS).items()} | {"one": ""}
_PLACES = [
    (demonym, frozenset(place.split())) for demonym, places in DEMONYMS.items() for place in places
]
_ORDINAL = regex.compile(r"(\d+)(?:st|nd|rd|th|s)")


#: What a sentence begins with that is no name, as its capital letter alone could say.
_OPENS = regex.compile(
    r"\w+(?:ly|ing|ed)|therefore|thus|hence|so|however|although|since|because|moreover|yes|no|both|"
    r"neither|either|according|overall|further|furthermore|instead|one|each|all|some|many|most|"
    r"several|another|other|such|here|answer|today|later|earlier|born|known|see|note"
)


@dataclass(frozen=True, slots=True)
class Support:
    """How well passages carry a claim: from 0 to 1, and what is against it; empty for nothing."""

    score: float
    against: str = ""

    @property
    def carried(self) -> bool:
        """Whether the passages hold what the claim says."""
        return not self.against


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as what is compared: its names and numbers must be met, of its words enough.

    Names are whole words, words are stems; `forms` has each of them both ways, since what one text
    begins a sentence with, the other may have in the middle.
    """

    text: str
    names: frozenset[str]
    numbers: frozenset[str]
    words: frozenset[str]
    forms: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.names | self.numbers | self.words


def denies(text: str) -> bool:
    """Return whether a text denies something."""
    return _NEGATES.search(text) is not None


class Evidence:
    """The passages of one answer, taken apart and embedded once for all its claims."""

    def __init__(self, question: str, passages: Sequence[Passage], encoder: Encoder | None) -> None:
        self.passages = passages
        self.question = question
        self._encoder = encoder
        self._titles = [_taken(p.title) for p in passages]
        self._sentences = [
            [_taken(p.text[a:b]) for a, b in sentences(p.text)[:_MOST] if p.text[a:b].strip()]
            for p in passages
        ]
        self._vectors: dict[int, Any] = {}
        self._claims: dict[str, Any] = {}

    def sharing(self, claim: str, most: int) -> list[int]:
        """Return the places of the passages that share most with a claim, best first."""
        wanted = _taken(claim)
        scored = [(self._shared(wanted, at), -at) for at in range(len(self.passages))]
        return [-at for score, at in sorted(scored, reverse=True)[:most] if score > 0]

    def _shared(self, wanted: _Text, at: int) -> float:
        held = self._titles[at].forms.union(*(s.forms for s in self._sentences[at]))
        rare = 2 * len(wanted.names & held) + 2 * len(wanted.numbers & held)
        return rare + len(wanted.words & held)

    def support(self, claim: str, places: Sequence[int]) -> Support:
        """Return how well the passages at these places, taken together, carry a sentence."""
        wanted = _taken(claim)
        if not wanted.all:
            return Support(0.0, "it says nothing that could be compared")
        chosen = [(at, s) for at in places for s in self._best(wanted, at)]
        held = _with_places(
            frozenset[str]().union(
                *(self._titles[at].forms for at in places), *(s.forms for _, s in chosen)
            )
        )
        missing = sorted(name for name in wanted.names if not {name, _key(name)} & held)
        missing += sorted(wanted.numbers - held)
        met = len(wanted.all) - len(missing) - len(wanted.words - held)
        share = met / len(wanted.all)
        meaning = self._meaning(claim, places)
        score = share if meaning is None else (1 - _MEANING) * share + _MEANING * meaning
        score = max(0.0, min(1.0, score))
        if missing:
            return Support(score, f"not in them: {', '.join(missing[:5])}")
        if not self._negation_agrees(wanted, [s for _, s in chosen]):
            return Support(score, "one denies what the other says")
        if other := self._instead(wanted, [s for _, s in chosen], held):
            return Support(score, other)
        if score < (_ENOUGH_WORDS if meaning is None else _ENOUGH):
            return Support(score, "they say too little of it")
        unsaid = _unsaid(wanted, held)
        return Support(score, f"they say nothing of “{unsaid}”" if unsaid else "")

    def _best(self, wanted: _Text, at: int) -> list[_Text]:
        """Return the sentences of a passage that share most with a claim."""
        rated = sorted((-len(wanted.all & s.forms), n) for n, s in enumerate(self._sentences[at]))[
            :_BEST
        ]
        return [self._sentences[at][n] for shared, n in rated if shared < 0]

    def embed(self, claims: Sequence[str]) -> None:
        """Embed claims at once that are asked about later, one by one."""
        new = list(dict.fromkeys(c for c in claims if c not in self._claims))
        if self._encoder is not None and new:
            self._claims |= zip(new, self._encoder.encode(new), strict=True)

    def holds(self, answer: str, at: int) -> bool:
        """Return whether a short answer stands in a passage or its title.

        Names and numbers are looked for one by one; more than these must stand there as it is, or
        be carried as a sentence is, since "liked ponies" may come from "did not like ponies".
        """
        wanted = _taken(answer)
        held = self._titles[at].forms.union(*(s.forms for s in self._sentences[at]))
        held = _with_places(held)
        said = f" {_run(self.passages[at].title)} \n {_run(self.passages[at].text)} "
        if (short := _run(answer)) and f" {short} " in said:
            return True
        # Function words alone ("Who") have to stand there as they are.
        if not wanted.all or wanted.numbers - held:
            return False
        if any(not {name, _key(name)} & held for name in wanted.names):
            return False
        return not wanted.words or self.support(answer, [at]).carried

    def _meaning(self, claim: str, places: Sequence[int]) -> float | None:
        """Return the best cosine of a claim with a sentence, led by its title; None unencoded."""
        if self._encoder is None:
            return None
        self._encode(places)
        self.embed([claim])
        vector = self._claims[claim]
        found = [float((self._vectors[at] @ vector).max()) for at in places if at in self._vectors]
        return max(found, default=0.0)

    def _encode(self, places: Sequence[int]) -> None:
        new = [at for at in places if at not in self._vectors and self._sentences[at]]
        texts = [f"{self.passages[at].title}: {s.text}" for at in new for s in self._sentences[at]]
        if not texts or self._encoder is None:
            return
        vectors = self._encoder.encode(texts)
        start = 0
        for at in new:
            end = start + len(self._sentences[at])
            self._vectors[at] = vectors[start:end]
            start = end

    def _instead(self, wanted: _Text, found: Sequence[_Text], held: frozenset[str]) -> str:
        """Return what a sentence says where a claim that repeats it has another word."""
        if not wanted.words - held:
            return ""
        said = [word.casefold() for word in words(wanted.text)]
        for sentence in found:
            there = [word.casefold() for word in words(sentence.text)]
            steps = SequenceMatcher(None, said, there, autojunk=False).get_opcodes()
            for before, step, after in zip(steps, steps[1:], steps[2:], strict=False):
                kind, a, b, c, d = step
                if kind != "replace" or b - a != 1 or d - c != 1:
                    continue
                # Two words on one side and one on the other, as they stand there.
                same = before[2] - before[1], after[2] - after[1]
                new = said[a] not in held and _key(said[a]) not in held
                if new and min(same) >= 1 and sum(same) >= 3:
                    return f"they say “{there[c]}”, not “{said[a]}”"
        return ""

    def _negation_agrees(self, wanted: _Text, found: Sequence[_Text]) -> bool:
        """Whether the clauses that share most with each clause of a claim deny as it does."""
        there = [(clause.forms, no) for s in found for clause, no in _clauses(s.text) if clause.all]
        for clause, no in _clauses(wanted.text):
            # What is said of something tells more than of whom: words before names.
            shared = [
                ((len(clause.words & forms), len(clause.all & forms)), other)
                for forms, other in there
            ]
            most = max((number for number, _ in shared), default=(0, 0))
            agree = any(other is no for number, other in shared if number == most)
            if not agree and (most[1] or no):
                return False
        return True


def _unsaid(wanted: _Text, held: frozenset[str]) -> str:
    """Return the first clause of a claim no word of which is held; empty where there is none."""
    for clause, _ in _clauses(wanted.text):
        told = [word for word in clause.words if len(word) > 2]  # not "e.g."
        if len(told) >= _CLAUSE_WORDS and not clause.all & held:
            return " ".join(clause.text.split())
    return ""


def _run(text: str) -> str:
    """Return the words of a text in a row."""
    return " ".join(words(text)).casefold()


@lru_cache(maxsize=4096)
def _clauses(text: str) -> tuple[tuple[_Text, bool], ...]:
    """Return the clauses of a text, and whether each denies something."""
    parts = [part for part in _CLAUSE.split(text) if part and part.strip()]
    return tuple((_taken(part), denies(part)) for part in parts)


@lru_cache(maxsize=4096)
def _taken(text: str) -> _Text:
    """Take a text apart into what is compared."""
    joined = _THOUSANDS.sub("", text)
    said = words(joined)
    content = set(content_words(joined))
    names: set[str] = set()
    numbers: set[str] = set()
    plain: set[str] = set()
    forms: set[str] = set()
    for at, word in enumerate(said):
        low = word.casefold()
        value = _number(low)
        if value is not None:
            numbers.add(value)
            forms |= {value, low}
            continue
        if word.lower() not in content or low == "yes":
            continue
        forms |= {low, _key(low)}
        if word[0].isupper() and (at > 0 or not _OPENS.fullmatch(low)):
            names.add(low)
        else:
            plain.add(_key(low))
    kept = (frozenset(x - {""}) for x in (names, numbers, plain, forms))
    return _Text(text, *kept)


def _number(word: str) -> str | None:
    """Return the value of a number in digits or words; empty for one that counts nothing."""
    if any(character.isdigit() for character in word):
        ordinal = _ORDINAL.fullmatch(word)
        return ordinal[1] if ordinal else word
    return _VALUES.get(word)


def _with_places(held: frozenset[str]) -> frozenset[str]:
    """Add "France" where there is "French", and the other way round."""
    more: set[str] = set()
    for demonym, place in _PLACES:
        if place <= held:
            more.add(demonym)
        if demonym in held:
            more |= place
    return held | more


def _key(word: str) -> str:
    return stem(word)[:_LETTERS]
