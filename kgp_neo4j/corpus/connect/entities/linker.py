"""Links passages to the entities that they mention, by the corpus's own titles (TAGME, offline)."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kgp_neo4j.corpus.connect.entities.spots import (
    Form,
    KeptSpots,
    Names,
    Spot,
    continues_name,
    is_name_word,
)
from kgp_neo4j.corpus.connect.entities.surface_forms import (
    is_person_like,
    is_stop_word,
    lead_names,
    qualifier_words,
)
from kgp_neo4j.text.words import Words, cut

__all__ = ["EntityLinker", "FullName", "LinkerSettings", "Links", "Mention", "Voter", "last_names"]

#: Candidates of a mention (entity, commonness) that vote for those of another.
Voter = Sequence[tuple[int, float]]


#: Pairs of entities whose relatedness is kept, some 200 bytes each.
_MOST_PAIRS = 1_000_000


class Links:
    """Which passages mention each entity; a document's own passages mention it too.

    `votes` counts the votes cast.
    """

    def __init__(self, passages: int) -> None:
        self._passages = max(passages, 2)
        self._of: dict[int, set[int]] = {}
        self._known: dict[tuple[int, int], float] = {}
        self.votes = 0

    def add(self, entity: int, passage: int) -> None:
        """Record that a passage mentions an entity."""
        self._of.setdefault(entity, set()).add(passage)

    def frequency(self, entity: int) -> int:
        """Return the number of passages that mention an entity."""
        return len(self._of.get(entity, ()))

    def relatedness(self, a: int, b: int) -> float:
        """Return how related two entities are, 0 to 1 (Milne and Witten 2008)."""
        if a == b:
            return 1.0
        pair = (a, b) if a < b else (b, a)
        known = self._known.get(pair)
        if known is None:
            if len(self._known) == _MOST_PAIRS:
                self._known.clear()  # neighbouring passages ask for the same pairs
            known = self._known[pair] = self._compare(*pair)
        return known

    def _compare(self, a: int, b: int) -> float:
        first, second = self._of.get(a), self._of.get(b)
        if not first or not second:
            return 0.0
        common = len(first & second)
        if not common:
            return 0.0
        few, many = sorted((len(first), len(second)))
        apart = math.log(many) - math.log(common)
        return max(0.0, 1 - apart / (math.log(self._passages) - math.log(few) + 1e-9))

    def vote(self, entity: int, voters: Iterable[Voter]) -> float:
        """Return the mean vote of a passage's other mentions for an entity (TAGME)."""
        total = number = 0.0
        for candidates in voters:
            number += 1
            self.votes += len(candidates)
            total += sum(self.relatedness(entity, e) * c for e, c in candidates) / len(candidates)
        return total / number if number else 0.0


@lru_cache(maxsize=1)
def _words(text: str) -> Words:
    """Return the words of a text that was read before, of which most are needed only once."""
    return cut(text)


# --- Last names ---


@dataclass(frozen=True, slots=True)
class FullName:
    """A full name in a text, its entity, and the place after it (`since`)."""

    name: str
    entity: str
    since: int


def last_names(
    text: str, known: Sequence[FullName], occupied: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    """Yield the places of last names alone, outside of `occupied` (in order), and their entities.

    A last name that two of the known people share is ambiguous and left out.
    """
    called: dict[str, FullName | None] = {}
    for full in known:
        raw = _name_words(full.name)
        if is_person_like(raw):
            other = called.get(raw[-1], full)
            called[raw[-1]] = other if other and other.entity == full.entity else None
    if not called:
        return
    edges = [0, *itertools.chain.from_iterable(occupied), len(text)]
    outside = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    if text.isascii() and not any(name in part for name in called for part in outside):
        return  # without cutting the text
    words = _words(text)
    spans = iter(occupied)
    taken = next(spans, None)
    for at, raw_word in enumerate(words.raw):
        start, end = words.starts[at], words.ends[at]
        while taken is not None and taken[1] <= start:
            taken = next(spans, None)
        full_name = called.get(raw_word)
        if full_name is None or start < full_name.since:
            continue
        if taken is not None and taken[0] < end:
            continue
        if at > 0 and continues_name(words, at) and is_name_word(words, at - 1):
            continue  # somebody else's full name
        if (
            at + 1 < len(words.raw)
            and continues_name(words, at + 1)
            and is_name_word(words, at + 1)
        ):
            continue
        yield start, end, full_name.entity


@lru_cache(maxsize=1 << 13)
def _name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name without its qualifier."""
    return tuple(cut(name.split(" (")[0]).raw)


# --- The linker ---

#: Most candidates of a name that are compared, and most mentions around it that vote on them.
_CANDIDATES = 20
_VOTERS = 12

Owners = Sequence[str | None] | None
"""The entity each text is the document of, where there is one."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A part of a passage that names an entity: `surface == passage[start:end]`, in characters.

    `commonness` is how often the surface means this entity, `coherence` how related the entity is
    to the others of the passage, `score` the mean of the coherence and the link probability
    (TAGME's rho). All three are from 0 to 1.
    """

    start: int
    end: int
    surface: str
    entity: str
    commonness: float
    coherence: float
    score: float


@dataclass(frozen=True, slots=True)
class LinkerSettings:
    """The options of the linker.

    `threshold` prunes mentions by their score (TAGME's rho). Without `coherence` commonness alone
    decides. `coreferent_names` links people by their last name alone after their full one,
    `lead_names` reads further names from the first sentence of an entity's own document.
    `partial_names` adds first and last names with a low commonness, for dictionaries that have
    all entities of the texts.
    """

    threshold: float = 0.2
    coherence: bool = True
    coreferent_names: bool = True
    lead_names: bool = True
    partial_names: bool = False


class EntityLinker:
    """Finds the entities of a dictionary of titles in running text (Ferragina and Scaiella 2010).

    `entities` are (id, title); `aliases` gives more names by title or id. Commonness, link
    probability and relatedness are counted in the texts that are linked, whatever their order.
    """

    def __init__(
        self,
        entities: Sequence[tuple[str, str]],
        aliases: Mapping[str, Sequence[str]] | None = None,
        settings: LinkerSettings | None = None,
    ) -> None:
        self.settings = settings or LinkerSettings()
        self._ids = [id_ for id_, _ in entities]
        self._number = {id_: at for at, id_ in enumerate(self._ids)}
        self._titles = [title for _, title in entities]
        given = aliases or {}
        self.names = Names()
        for at, (id_, title) in enumerate(entities):
            self.names.add_title(at, title, (*given.get(title, ()), *given.get(id_, ())))
        self._qualifiers = [qualifier_words(title) for title in self._titles]
        if self.settings.partial_names:
            self._add_partial_names()
        self._named: dict[int, int] = defaultdict(int)
        self._links = Links(0)

    @property
    def votes(self) -> int:
        """The number of votes on relatedness so far, which is linear in the mentions."""
        return self._links.votes

    def link(self, texts: Sequence[str], owners: Owners = None) -> list[list[Mention]]:
        """Return the mentions of each text in their order, none overlapping."""
        return list(self.linked(texts, owners))

    def linked(
        self,
        texts: Sequence[str],
        owners: Owners = None,
        read: Callable[[int, Words], object] = lambda *_: None,
    ) -> Iterator[list[Mention]]:
        """Yield the mentions of each text, as `link` returns them.

        Before the first, all texts are read and counted in; `read` gets the words of each.
        """
        numbers = [self._owner(owners, at) for at in range(len(texts))]
        found = self._learn(texts, numbers, read)
        for text, owner, spots in zip(texts, numbers, found, strict=True):
            yield self._mentions(text, spots, owner)

    def _learn(
        self,
        texts: Sequence[str],
        owners: Sequence[int | None],
        read: Callable[[int, Words], object],
    ) -> KeptSpots:
        """Count how the texts write and name the entities; return the names found in each."""
        self._links = Links(len(texts))
        if self.settings.lead_names:
            self._add_lead_names(texts, owners)
        found = KeptSpots()
        articled: list[tuple[Spot, int | None]] = []
        for at, (text, owner) in enumerate(zip(texts, owners, strict=True)):
            words = cut(text)
            read(at, words)
            spots = self.names.find(words)
            found.add(spots)
            self._count((spot for spot in spots if not spot.articled), owner)
            articled += ((spot, owner) for spot in spots if spot.articled)
        # Only now it is known how their own documents write these names.
        for spot, owner in articled:
            form = self.names.forms[spot.form]
            form.small_article |= form.own_lower > 0 or self._is_own(form, owner)
        for spot, owner in articled:
            self._count((spot,), owner)
        for at, (spots, owner) in enumerate(zip(found, owners, strict=True)):
            if owner is not None:
                self._links.add(owner, at)
            for spot, _ in self._chosen(spots):
                entities = self._entities(self.names.forms[spot.form])
                if len(entities) == 1:
                    self._named[entities[0]] += 1
                    self._links.add(entities[0], at)
        return found

    def _add_lead_names(self, texts: Sequence[str], owners: Sequence[int | None]) -> None:
        seen: set[int] = set()
        for text, owner in zip(texts, owners, strict=True):
            if owner is not None and owner not in seen:
                seen.add(owner)
                for name in lead_names(self._titles[owner], text):
                    self.names.add(owner, name)

    def _owner(self, owners: Owners, at: int) -> int | None:
        given = owners[at] if owners else None
        return self._number.get(given) if given is not None else None

    def _entities(self, form: Form) -> list[int]:
        return list(dict.fromkeys(entity for entity, _ in form.owners))

    # --- Is it a mention? ---

    def _is_own(self, form: Form, owner: int | None) -> bool:
        return owner is not None and any(entity == owner for entity, _ in form.owners)

    def _is_named(self, spot: Spot) -> bool:
        return spot.named or (spot.articled and self.names.forms[spot.form].small_article)

    def _count(self, spots: Iterable[Spot], owner: int | None) -> None:
        for spot in spots:
            form = self.names.forms[spot.form]
            if spot.first and len(form.words) == 1 and not spot.quoted:
                continue  # every word has a capital there
            own = self._is_own(form, owner)
            if self._is_named(spot):
                form.inside += spot.inside
                form.free += not spot.inside
                form.own_name += own
            else:
                form.lower += 1
                form.own_lower += own

    def _probability(self, spot: Spot) -> float:
        """Return the link probability of an occurrence of a name (TAGME's lp)."""
        form = self.names.forms[spot.form]
        named = self._is_named(spot)
        several = len(form.words) > 1
        if not several and is_stop_word(form.words[0]) and not form.is_acronym:
            return 0.5 if spot.quoted and named else 0.0
        # Part of a title often occurs without meaning that entity.
        prior = (0.9 if several else 0.7) * (1.0 if form.weight > 0.8 else 0.8 if several else 0.4)
        if not named:
            if not form.is_common:
                return 0.0
            return prior * (0.8 if several else 0.4)
        free = prior * (form.free + 2) / (form.free + form.inside + 2)
        if spot.quoted:
            return max(free, 0.8)
        if spot.inside:
            return free * (0.6 if several else 0.3)
        if spot.first and not several:
            return prior * (form.free + 1) / (form.free + form.inside + form.lower + 1)
        return free

    def _chosen(self, spots: Sequence[Spot]) -> Iterator[tuple[Spot, float]]:
        """Yield the longest of the spots that are mentions, none overlapping."""
        end = -1
        for spot in spots:  # by start, the longest first
            if spot.start < end:
                continue
            probability = self._probability(spot)
            if probability > 0.1:
                end = spot.end
                yield spot, probability

    # --- Which entity is it? ---

    def _candidates(self, form: Form) -> list[tuple[int, float]]:
        """Return the entities of a name with their commonness, the commonest first."""
        weights: dict[int, float] = {}
        for entity, weight in form.owners:
            weights[entity] = max(weights.get(entity, 0.0), weight)
        counted = {e: w * (self._named.get(e, 0) + 1) for e, w in weights.items()}
        total = sum(counted.values())
        ranked = sorted(((e, n / total) for e, n in counted.items()), key=lambda x: (-x[1], x[0]))
        return ranked[:_CANDIDATES]

    def _mentions(self, text: str, spots: Sequence[Spot], owner: int | None) -> list[Mention]:
        # Chosen again, as the spellings of a name are now counted in all texts.
        chosen = list(self._chosen(spots))
        candidates = [self._candidates(self.names.forms[spot.form]) for spot, _ in chosen]
        qualified = any(self._qualifiers[entity] for known in candidates for entity, _ in known)
        present = frozenset(_words(text).keys if qualified else ())
        mentions: list[Mention] = []
        for at, (spot, probability) in enumerate(chosen):
            voters = self._voters(candidates, at, owner)
            entity, commonness, coherence = self._decide(candidates[at], voters, present)
            score = (probability + coherence) / 2 if self.settings.coherence else probability
            if score >= self.settings.threshold:
                mentions.append(
                    Mention(
                        spot.start,
                        spot.end,
                        text[spot.start : spot.end],
                        self._ids[entity],
                        commonness,
                        coherence,
                        score,
                    )
                )
        if self.settings.coreferent_names:
            mentions += self._last_names(text, mentions, owner)
            mentions.sort(key=lambda m: m.start)
        return mentions

    def _voters(self, candidates: Sequence[Voter], at: int, owner: int | None) -> list[Voter]:
        """Return the mentions around one, the nearest first, and the passage's own document."""
        voters: list[Voter] = [[(owner, 1.0)]] if owner is not None else []
        near = sorted(
            range(max(0, at - _VOTERS), min(len(candidates), at + _VOTERS + 1)),
            key=lambda other: abs(other - at),
        )
        voters += [candidates[other][:3] for other in near if other != at]
        return voters[:_VOTERS]

    def _decide(
        self, candidates: Voter, voters: Sequence[Voter], present: frozenset[str]
    ) -> tuple[int, float, float]:
        """Return the entity of a mention, its commonness and its coherence."""
        if not self.settings.coherence:
            return *candidates[0], 0.0
        best: tuple[int, float, float] | None = None
        best_rank = -1.0
        for entity, commonness in candidates:
            vote = self._links.vote(entity, voters)
            wanted = self._qualifiers[entity]
            # "film" beside "Ed Wood" supports the candidate Ed Wood (film).
            context = len(wanted & present) / len(wanted) if wanted else 0.0
            rank = vote + 0.5 * context + commonness
            if rank > best_rank:
                best, best_rank = (entity, commonness, min(1.0, vote + 0.5 * context)), rank
        assert best is not None
        return best

    # --- Parts of names ---

    def _add_partial_names(self) -> None:
        for entity, title in enumerate(self._titles):
            words = cut(title)
            if is_person_like(words.raw):
                for at, weight in ((-1, 0.1), (0, 0.05)):
                    key = words.keys[at]
                    if len(key) > 2 and not is_stop_word(key):
                        self.names.add(entity, ((key,), (words.raw[at],), weight))

    def _last_names(
        self, text: str, mentions: Sequence[Mention], owner: int | None
    ) -> Iterator[Mention]:
        """Yield the mentions of people by their last name alone."""
        known = [FullName(self._titles[owner], self._ids[owner], 0)] if owner is not None else []
        known += [FullName(m.surface, m.entity, m.end) for m in mentions]
        for start, end, entity in last_names(text, known, [(m.start, m.end) for m in mentions]):
            # Certain, given that the full name was linked correctly.
            yield Mention(start, end, text[start:end], entity, 1.0, 1.0, 0.5)
