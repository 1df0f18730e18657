"""Checks each claim of a reply against the passages that it cites.

A claim that the passages do not support stays in the answer, with a mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations
from typing import Any

import regex

from kgp_neo4j.corpus.answer.reply import Claim
from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.tables.questions.question_words import NUMBERS, ORDINALS
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.words import content_words, stem, words
from kgp_neo4j.types.corpus import Passage, Statement

__all__ = ["MARK", "Evidence", "Support", "check", "denies", "marked"]

#: Sentences of a passage that a claim is compared with, and sentences of it that are read.
_MOST_COMPARED, _MOST_READ = 3, 60
#: Weight of the cosine beside shared words, and least score of both; of words without an encoder.
_MEANING_WEIGHT = 0.5
_THRESHOLD = 0.6
_WORDS_THRESHOLD = 0.6
#: A clause of this many words or more must share one with the passages.
_CLAUSE_WORDS = 2
#: Letters of a stem that are compared, so that `director` and `directed` are equal.
_STEM_LETTERS = 6

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
#: "One" is not compared as a number, because of "one of them".
_VALUES = {name: str(value) for name, value in (NUMBERS | ORDINALS).items()} | {"one": ""}
_ORDINAL = regex.compile(r"(\d+)(?:st|nd|rd|th|s)")


#: Words at the beginning of a sentence that are no names in spite of their capital.
_OPENING_WORD = regex.compile(
    r"\w+(?:ly|ing|ed)|therefore|thus|hence|so|however|although|since|because|moreover|yes|no|both|"
    r"neither|either|according|overall|further|furthermore|instead|one|each|all|some|many|most|"
    r"several|another|other|such|here|answer|today|later|earlier|born|known|see|note"
)


@dataclass(frozen=True, slots=True)
class Support:
    """How well passages support a claim, from 0 to 1, and the reason against it, if any."""

    score: float
    against: str = ""

    @property
    def carried(self) -> bool:
        """Whether the passages support the claim."""
        return not self.against


@dataclass(frozen=True, slots=True)
class _Text:
    """The names, numbers and words of a text that are compared.

    All names and numbers of a claim must occur in the passages, and enough of its words. Names are
    whole words, words are stems; `forms` has both of each, since a word at the beginning of a
    sentence may be either.
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
    """Return whether a text has a negation."""
    return _NEGATES.search(text) is not None


class Evidence:
    """The passages of one answer, split and embedded once for all its claims."""

    def __init__(self, question: str, passages: Sequence[Passage], encoder: Encoder | None) -> None:
        self.passages = passages
        self.question = question
        self._encoder = encoder
        self._titles = [_compared(p.heading) for p in passages]
        self._sentences = [
            [
                _compared(p.text[a:b])
                for a, b in sentences(p.text)[:_MOST_READ]
                if p.text[a:b].strip()
            ]
            for p in passages
        ]
        self._vectors: dict[int, Any] = {}
        self._claims: dict[str, Any] = {}

    def sharing(self, claim: str, most: int) -> list[int]:
        """Return the places of the passages that share most with a claim, best first."""
        wanted = _compared(claim)
        scored = [(self._shared(wanted, at), -at) for at in range(len(self.passages))]
        return [-at for score, at in sorted(scored, reverse=True)[:most] if score > 0]

    def _shared(self, wanted: _Text, at: int) -> float:
        known = self._titles[at].forms.union(*(s.forms for s in self._sentences[at]))
        rare = 2 * len(wanted.names & known) + 2 * len(wanted.numbers & known)
        return rare + len(wanted.words & known)

    def support(self, claim: str, places: Sequence[int]) -> Support:
        """Return how well the passages at these places together support a sentence."""
        wanted = _compared(claim)
        if not wanted.all:
            return Support(0.0, "it says nothing that could be compared")
        chosen = [(at, s) for at in places for s in self._best(wanted, at)]
        known = frozenset[str]().union(
            *(self._titles[at].forms for at in places), *(s.forms for _, s in chosen)
        )
        missing = sorted(name for name in wanted.names if not {name, _key(name)} & known)
        missing += sorted(wanted.numbers - known)
        met = len(wanted.all) - len(missing) - len(wanted.words - known)
        share = met / len(wanted.all)
        meaning = self._meaning(claim, places)
        score = (
            share if meaning is None else (1 - _MEANING_WEIGHT) * share + _MEANING_WEIGHT * meaning
        )
        score = max(0.0, min(1.0, score))
        if missing:
            return Support(score, f"not in them: {', '.join(missing[:5])}")
        if not self._negation_agrees(wanted, [s for _, s in chosen]):
            return Support(score, "one denies what the other says")
        if other := self._replaced_word(wanted, [s for _, s in chosen], known):
            return Support(score, other)
        if score < (_WORDS_THRESHOLD if meaning is None else _THRESHOLD):
            return Support(score, "they say too little of it")
        unsaid = _unsaid(wanted, known)
        return Support(score, f"they say nothing of “{unsaid}”" if unsaid else "")

    def _best(self, wanted: _Text, at: int) -> list[_Text]:
        """Return the sentences of a passage that share most with a claim."""
        rated = sorted((-len(wanted.all & s.forms), n) for n, s in enumerate(self._sentences[at]))[
            :_MOST_COMPARED
        ]
        return [self._sentences[at][n] for shared, n in rated if shared < 0]

    def embed(self, claims: Sequence[str]) -> None:
        """Embed claims in one batch, to be checked one by one later."""
        new = list(dict.fromkeys(c for c in claims if c not in self._claims))
        if self._encoder is not None and new:
            self._claims |= zip(new, self._encoder.encode(new), strict=True)

    def holds(self, answer: str, at: int) -> bool:
        """Return whether a short answer occurs in a passage or its title.

        Names and numbers are searched one by one; an answer with other words must occur literally
        or be supported as a sentence, since "liked ponies" may come from "did not like ponies".
        """
        wanted = _compared(answer)
        known = self._titles[at].forms.union(*(s.forms for s in self._sentences[at]))
        text = f" {_run(self.passages[at].heading)} \n {_run(self.passages[at].text)} "
        if (short := _run(answer)) and f" {short} " in text:
            return True
        # Function words alone ("Who") must occur literally.
        if not wanted.all or wanted.numbers - known:
            return False
        if any(not {name, _key(name)} & known for name in wanted.names):
            return False
        return not wanted.words or self.support(answer, [at]).carried

    def _meaning(self, claim: str, places: Sequence[int]) -> float | None:
        """Return the best cosine of a claim with a titled sentence, None without an encoder."""
        if self._encoder is None:
            return None
        self._encode(places)
        self.embed([claim])
        vector = self._claims[claim]
        found = [float((self._vectors[at] @ vector).max()) for at in places if at in self._vectors]
        return max(found, default=0.0)

    def _encode(self, places: Sequence[int]) -> None:
        new = [at for at in places if at not in self._vectors and self._sentences[at]]
        texts = [
            f"{self.passages[at].heading}: {s.text}" for at in new for s in self._sentences[at]
        ]
        if not texts or self._encoder is None:
            return
        vectors = self._encoder.encode(texts)
        start = 0
        for at in new:
            end = start + len(self._sentences[at])
            self._vectors[at] = vectors[start:end]
            start = end

    def _replaced_word(self, wanted: _Text, found: Sequence[_Text], known: frozenset[str]) -> str:
        """Return a note where a claim repeats a sentence except for one word, else nothing."""
        if not wanted.words - known:
            return ""
        claim_words = [word.casefold() for word in words(wanted.text)]
        for sentence in found:
            sentence_words = [word.casefold() for word in words(sentence.text)]
            steps = SequenceMatcher(None, claim_words, sentence_words, autojunk=False).get_opcodes()
            for before, step, after in zip(steps, steps[1:], steps[2:], strict=False):
                kind, a, b, c, d = step
                if kind != "replace" or b - a != 1 or d - c != 1:
                    continue
                # Two equal words on one side of it and one on the other.
                same = before[2] - before[1], after[2] - after[1]
                new = claim_words[a] not in known and _key(claim_words[a]) not in known
                if new and min(same) >= 1 and sum(same) >= 3:
                    return f"they say “{sentence_words[c]}”, not “{claim_words[a]}”"
        return ""

    def _negation_agrees(self, wanted: _Text, found: Sequence[_Text]) -> bool:
        """Return whether the most similar clause to each of a claim's has a negation if it has."""
        there = [(clause.forms, no) for s in found for clause, no in _clauses(s.text) if clause.all]
        for clause, no in _clauses(wanted.text):
            # Shared words count before shared names.
            shared = [
                ((len(clause.words & forms), len(clause.all & forms)), other)
                for forms, other in there
            ]
            most = max((number for number, _ in shared), default=(0, 0))
            agree = any(other is no for number, other in shared if number == most)
            if not agree and (most[1] or no):
                return False
        return True


def _unsaid(wanted: _Text, known: frozenset[str]) -> str:
    """Return the first clause of a claim that shares no word with the passages, if any."""
    for clause, _ in _clauses(wanted.text):
        clause_words = [word for word in clause.words if len(word) > 2]  # not "e.g."
        if len(clause_words) >= _CLAUSE_WORDS and not clause.all & known:
            return " ".join(clause.text.split())
    return ""


def _run(text: str) -> str:
    """Return the words of a text in lower case, joined by spaces."""
    return " ".join(words(text)).casefold()


@lru_cache(maxsize=512)
def _clauses(text: str) -> tuple[tuple[_Text, bool], ...]:
    """Return the clauses of a text, and whether each has a negation."""
    parts = [part for part in _CLAUSE.split(text) if part and part.strip()]
    return tuple((_compared(part), denies(part)) for part in parts)


@lru_cache(maxsize=512)
def _compared(text: str) -> _Text:
    """Return the names, numbers and words of a text."""
    joined = _THOUSANDS.sub("", text)
    all_words = words(joined)
    content = set(content_words(joined))
    names: set[str] = set()
    numbers: set[str] = set()
    plain: set[str] = set()
    forms: set[str] = set()
    for at, word in enumerate(all_words):
        low = word.casefold()
        value = _number(low)
        if value is not None:
            numbers.add(value)
            forms |= {value, low}
            continue
        if word.lower() not in content or low == "yes":
            continue
        forms |= {low, _key(low)}
        if word[0].isupper() and (at > 0 or not _OPENING_WORD.fullmatch(low)):
            names.add(low)
        else:
            plain.add(_key(low))
    kept = (frozenset(x - {""}) for x in (names, numbers, plain, forms))
    return _Text(text, *kept)


def _number(word: str) -> str | None:
    """Return the value of a number in digits or words, None for any other word."""
    if any(character.isdigit() for character in word):
        ordinal = _ORDINAL.fullmatch(word)
        return ordinal[1] if ordinal else word
    return _VALUES.get(word)


def _key(word: str) -> str:
    return stem(word)[:_STEM_LETTERS]


# --- Claims ---

#: The mark after a claim that the evidence does not support.
MARK = "[not in the evidence]"
#: Other passages that are tried where those that a claim cites do not support it.
_TRIED = 4
_ENDS = (".", "!", "?", "…", "。", "！", "？", ")", "”", '"', "'")
_YES_OR_NO = frozenset(("yes", "no", "true", "false", "是", "否", "不是", "对"))


def check(claims: Sequence[Claim], evidence: Evidence) -> tuple[Statement, ...]:
    """Return the claims as statements, in their order; citations count the passages from 1.

    A sentence is checked against the passages that it cites, then against the others shown: if they
    support it, they are cited instead, and the note says so. A short answer is supported where its
    words occur in a passage that it or its reasons cite; yes and no by their reasons alone.
    """
    evidence.embed([claim.text for claim in claims if not claim.short])
    reasons = [_sentence(claim, evidence) for claim in claims if not claim.short]
    rest = iter(reasons)
    return tuple(
        _short(claim, reasons, evidence) if claim.short else next(rest) for claim in claims
    )


def marked(statements: Iterable[Statement], numbers: dict[str, int]) -> str:
    """Return an answer's text: each statement with its citations, or with the mark.

    `numbers` has the number of each passage by its id. A short answer before its reasons has a line
    of its own.
    """
    text = ""
    for statement in statements:
        cited = sorted(numbers[p] for p in statement.passages if p in numbers)
        supported = statement.carried and cited
        text += f"{statement.text} {''.join(f'[{n}]' for n in cited) if supported else MARK}"
        text += " " if statement.text.endswith(_ENDS) else "\n"
    return text.strip()


def _sentence(claim: Claim, evidence: Evidence) -> Statement:
    cited, missing = _places(claim, evidence)
    foreign = f"there is no passage {_bracketed(missing)}" if missing else ""
    own = evidence.support(claim.text, cited) if cited else Support(0.0, "it cites nothing")
    if cited and own.carried:
        return _carried_statement(claim, cited, own, foreign, evidence)
    for places in _others(claim, cited, evidence):
        found = evidence.support(claim.text, places)
        if found.carried:
            return _carried_statement(
                claim, places, found, _citation_note(cited, places, foreign), evidence
            )
    if cited:
        summary = (
            f"{_bracketed(n + 1 for n in cited)} {'do' if len(cited) > 1 else 'does'} not carry it"
        )
        note = f"{summary}: {own.against}"
    else:
        note = "no passage carries it" if missing else "it cites nothing, and no passage carries it"
    return Statement(
        claim.text,
        _ids(cited, evidence),
        False,
        own.score,
        "; ".join(filter(None, (foreign, note))),
    )


def _others(claim: Claim, cited: Sequence[int], evidence: Evidence) -> Iterator[tuple[int, ...]]:
    """Yield passages that may support a claim: added to those cited, alone, and in pairs."""
    near = [at for at in evidence.sharing(claim.text, _TRIED) if at not in cited]
    if cited:
        yield from ((*cited, at) for at in near)
    yield from ((at,) for at in near)
    yield from combinations(near, 2)


def _citation_note(cited: Sequence[int], places: Sequence[int], foreign: str) -> str:
    new = _bracketed(at + 1 for at in places if at not in cited)
    if not cited:
        return "; ".join(filter(None, (foreign, f"cited nothing that is there; it is in {new}")))
    old = _bracketed(at + 1 for at in cited)
    if set(cited) <= set(places):
        note = f"cited {old} alone; {new} is needed too"
    else:
        note = f"cited {old}, which does not carry it; {new} does"
    return "; ".join(filter(None, (foreign, note)))


def _short(claim: Claim, reasons: Sequence[Statement], evidence: Evidence) -> Statement:
    cited, missing = _places(claim, evidence)
    foreign = f"there is no passage {_bracketed(missing)}" if missing else ""
    ids = _ids(cited, evidence)
    supported = [reason for reason in reasons if reason.carried]
    behind = tuple(dict.fromkeys(p for reason in supported for p in reason.passages))

    text = claim.text.casefold().strip(" .!")
    if denies(text) and text not in _YES_OR_NO:
        return _sentence(claim, evidence)

    def no(note: str) -> Statement:
        return Statement(claim.text, ids, False, 0.0, "; ".join(filter(None, (foreign, note))))

    if reasons and not supported:
        return no("none of its reasons is carried")
    if text in _YES_OR_NO:
        if not supported or len(supported) < len(reasons):
            return no("yes and no are carried by their reasons, and not all of these are")
        score = min(reason.support for reason in supported)
        return Statement(claim.text, behind, True, score, foreign)
    places = {passage.id: at for at, passage in enumerate(evidence.passages)}
    supporting = [at for at in cited if evidence.holds(claim.text, at)]
    if supporting:
        return _carried_statement(claim, supporting, Support(1.0), foreign, evidence)
    # The passages of its reasons, else those that share most with question and answer.
    supporting = [places[p] for p in behind if evidence.holds(claim.text, places[p])]
    if not supporting and not reasons:
        near = evidence.sharing(f"{evidence.question} {claim.text}", _TRIED)
        supporting = [at for at in near if evidence.holds(claim.text, at)][:1]
    if supporting:
        return _carried_statement(
            claim, supporting, Support(1.0), _citation_note(cited, supporting, foreign), evidence
        )
    return no("its words stand in no passage that it rests on")


def _places(claim: Claim, evidence: Evidence) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the places of the passages that a claim cites, and its numbers without a passage."""
    there = [n for n in claim.cited if 1 <= n <= len(evidence.passages)]
    return tuple(n - 1 for n in there), tuple(n for n in claim.cited if n not in there)


def _carried_statement(
    claim: Claim, places: Sequence[int], found: Support, note: str, evidence: Evidence
) -> Statement:
    return Statement(claim.text, _ids(places, evidence), True, found.score, note)


def _ids(places: Iterable[int], evidence: Evidence) -> tuple[str, ...]:
    return tuple(evidence.passages[at].id for at in places)


def _bracketed(numbers: Iterable[int]) -> str:
    brackets = [f"[{number}]" for number in numbers]
    return ", ".join(brackets[:5]) + (" and others" if len(brackets) > 5 else "")
