"""Links passages to the entities that they mention, by the corpus's own titles (TAGME, offline)."""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.build import Counts, as_array, from_array
from kgp_neo4j.corpus.connect.entities.spots import (
    ARTICLED,
    FIRST,
    INSIDE,
    NAMED,
    QUOTED,
    Form,
    Names,
    Spots,
    is_part_of_name,
    rows_of,
)
from kgp_neo4j.corpus.connect.entities.surface_forms import (
    is_person_like,
    is_stop_word,
    lead_names,
    qualifier_words,
)
from kgp_neo4j.text.words import Words, cut, whole_words
from kgp_neo4j.types.settings import EntitySettings

__all__ = ["EntityLinker", "Mention"]

#: Candidates of a mention (entity, commonness) that vote for those of another.
Voter = Sequence[tuple[int, float]]


#: Pairs of entities whose relatedness is kept, some 200 bytes each, both ways.
_MOST_PAIRS = 1_000_000


class Links:
    """Which of so many `passages` mention each entity; a document's own mention it too."""

    def __init__(self) -> None:
        self.passages = 0
        self.passages_of: dict[int, set[int]] = {}
        self._known: dict[int, dict[int, float]] = {}
        self._pairs = 0

    def add(self, entity: int, passage: int) -> None:
        """Record that a passage mentions an entity."""
        self.passages_of.setdefault(entity, set()).add(passage)

    def vote(self, entity: int, voters: Sequence[Voter]) -> float:
        """Return the mean vote of a passage's other mentions for an entity (TAGME)."""
        known = self._known.setdefault(entity, {})
        total = 0.0
        for candidates in voters:
            share = 0.0
            for other, commonness in candidates:
                related = known.get(other)
                if related is None:
                    related = self._relate(entity, other)
                share += related * commonness
            total += share / len(candidates)
        return total / len(voters) if voters else 0.0

    def _relate(self, a: int, b: int) -> float:
        """Return how related two entities are, 0 to 1 (Milne and Witten 2008), and keep it."""
        if self._pairs == _MOST_PAIRS:
            self._known.clear()  # neighbouring passages ask for the same pairs
            self._pairs = 0
        self._pairs += 1
        related = 1.0 if a == b else self._compare(a, b)
        self._known.setdefault(a, {})[b] = related
        self._known.setdefault(b, {})[a] = related
        return related

    def _compare(self, a: int, b: int) -> float:
        first, second = self.passages_of.get(a), self.passages_of.get(b)
        if not first or not second:
            return 0.0
        common = len(first & second)
        if not common:
            return 0.0
        few, many = sorted((len(first), len(second)))
        apart = math.log(many) - math.log(common)
        return max(0.0, 1 - apart / (math.log(max(self.passages, 2)) - math.log(few) + 1e-9))


@lru_cache(maxsize=1)
def _words(text: str) -> Words:
    """Return the words of a text that was read before, of which most are needed only once."""
    return cut(text)


@lru_cache(maxsize=1 << 13)
def _name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name without its qualifier."""
    return tuple(cut(name.split(" (")[0]).raw)


# --- The linker ---

#: Most candidates of a name that are compared, and most mentions around it that vote on them.
_CANDIDATES = 20
_VOTERS = 12
#: Link probability that a mention must exceed.
_LEAST = 0.1

_Chosen = tuple[int, int, int, float]
"""A spot that may be a mention: start, end, the number of its form, and its link probability."""


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
    entity: int
    commonness: float
    coherence: float
    score: float


class EntityLinker:
    """Finds the `titles` (document id, title) of a corpus in texts (Ferragina and Scaiella 2010).

    Entities are numbered: documents of the same title are one. `aliases` gives more names by title,
    and `settings.threshold` prunes mentions by their score. Commonness, link probability and
    relatedness are counted in the texts that are linked, whatever their order: first
    `add_lead_names` gets the first text of each document at least, then the names that `names.find`
    finds in all texts go to `learn`. After that some can be linked by themselves.
    """

    def __init__(
        self,
        titles: Iterable[tuple[str, str]],
        aliases: Mapping[str, Sequence[str]] | None = None,
        settings: EntitySettings | None = None,
    ) -> None:
        self.settings = settings or EntitySettings()
        #: The titles of all entities, and the documents of each.
        self.titles: list[str] = []
        self.documents: list[list[str]] = []
        #: The entity of each document.
        self.number: dict[str, int] = {}
        self.names = Names()
        self._qualifiers: list[frozenset[str]] = []
        self._named = np.zeros(0, np.int64)
        self._links = Links()
        #: Names and entities that the texts learnt so far were searched for.
        self._searched = (0, 0)
        self._add(titles, aliases or {})

    def _add(self, titles: Iterable[tuple[str, str]], aliases: Mapping[str, Sequence[str]]) -> None:
        numbers = {title: number for number, title in enumerate(self.titles)}
        for document, title in titles:
            number = numbers.setdefault(title, len(self.titles))
            if number == len(self.titles):
                self.titles.append(title)
                self.documents.append([])
                self._qualifiers.append(qualifier_words(title))
                self.names.add_title(number, title, aliases.get(title, ()))
            self.documents[number].append(document)
            self.number[document] = number

    def update(self, titles: Iterable[tuple[str, str]]) -> set[str]:
        """Take these documents for the corpus's; return those that are new or have a new title."""
        current = dict(titles)
        new = {
            document
            for document, title in current.items()
            if document not in self.number or self.titles[self.number[document]] != title
        }
        gone = new.union(self.number.keys() - current.keys())
        self.documents = [
            [document for document in same if document not in gone] for same in self.documents
        ]
        self._add(((document, current[document]) for document in sorted(new)), {})
        return new

    def new_names(self, documents: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        """Yield the names of some documents, and those that came since texts were learnt.

        Each is yielded with its words as they are compared and as they are written, and as it
        stands in the title, where it does.
        """
        entities = {self.number[document] for document in documents}
        names, known = self._searched
        for number, form in enumerate(self.names.forms):
            if number >= names or any(
                entity >= known or entity in entities for entity, _ in form.owners
            ):
                title = cut(self.titles[form.owners[-1][0]])
                for written in form.written:
                    yield " ".join(form.words), " ".join(written), _as_in(title, written)

    def as_arrays(self) -> Counts:
        """Return what was learnt, of which `from_arrays` makes the same linker."""
        links = self._links.passages_of
        passages = np.fromiter(itertools.chain.from_iterable(links.values()), np.int32)
        sizes = np.fromiter(map(len, links.values()), np.int64, len(links))
        entities = np.repeat(np.fromiter(links, np.int32, len(links)), sizes)
        return {
            "entities": as_array([self.titles, self.documents]),
            "names": as_array([form.as_json() for form in self.names.forms]),
            "named": self._named,
            "linked_entities": entities,
            "linked_passages": passages,
            "learnt": np.array([self._links.passages]),
        }

    @classmethod
    def from_arrays(cls, arrays: Counts, settings: EntitySettings) -> EntityLinker:
        """Return the linker that had learnt what these `arrays` say."""
        linker = cls((), settings=settings)
        linker.titles, linker.documents = from_array(arrays["entities"])
        linker.number = {
            document: n for n, all_ in enumerate(linker.documents) for document in all_
        }
        linker._qualifiers = list(map(qualifier_words, linker.titles))
        for form in from_array(arrays["names"]):
            linker.names.add_form(Form.from_json(form))
        linker._named = arrays["named"]
        linker._links.passages = int(arrays["learnt"][0])
        pairs = zip(arrays["linked_entities"].data, arrays["linked_passages"].data, strict=True)
        for entity, passage in pairs:
            linker._links.add(entity, passage)
        linker._searched = len(linker.names.forms), len(linker.titles)
        return linker

    def add_lead_names(self, texts: Iterable[tuple[int, str]]) -> None:
        """Add the names of each entity (-1 for none) that its first text tells."""
        seen: set[int] = {-1}
        for owner, text in texts:
            if owner not in seen:
                seen.add(owner)
                for name in lead_names(self.titles[owner], text):
                    self.names.add(owner, name)

    def learn(
        self, spots: Spots, owners: Sequence[int], places: Sequence[int] | None = None
    ) -> None:
        """Count how texts, of which these names were found, write and name the entities.

        `owners` has the entity of each text, by its place, -1 for none. Several calls are as good
        as one with all texts; `places` are then those of texts that were learnt before, of which
        only names and entities are counted that have come since, and -1 for the others.
        """
        owned = np.array(owners, np.int64)
        known = np.full(owned.size, -1) if places is None else np.array(places, np.int64)
        new = known < 0
        at, _, _, form, written = spots.columns()
        names, entities = self._searched
        counted = new[at] | (form >= names)
        self._count(form[counted], written[counted], owned[at[counted]])
        number = np.where(new, self._links.passages + np.cumsum(new) - 1, known)
        self._links.passages += int(new.sum())
        # What the texts mention for certain: names that one entity has alone.
        since = np.where(new, 0, entities)
        alone = [f.owners[0][0] if len(f.owners) == 1 else -1 for f in self.names.forms]
        likely, _ = self._choose(spots)
        entity, text = np.array(alone, np.int64)[form[likely]], at[likely]
        certain = (entity >= 0) & (entity >= since[text])
        text, entity = text[certain], entity[certain]
        named = np.bincount(entity, minlength=len(self.titles))
        named[: self._named.size] += self._named
        self._named = named
        for place in np.flatnonzero((owned >= 0) & (owned >= since)).tolist():
            self._links.add(int(owned[place]), int(number[place]))
        for of, place in zip(entity.data, number[text].data, strict=True):
            self._links.add(of, place)
        self._searched = len(self.names.forms), len(self.titles)

    def chosen(self, all_spots: Spots) -> Iterator[list[_Chosen]]:
        """Yield the names of each text that may be mentions, as `learn` has counted them."""
        spots, likely = self._choose(all_spots)
        at, start, end, form, _ = all_spots.columns()
        sizes = np.bincount(at[spots], minlength=len(all_spots))
        return rows_of((start[spots], end[spots], form[spots], likely), sizes)

    def _choose(self, all_spots: Spots) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the places of the spots that may be mentions, none overlapping; how likely."""
        at, start, end, form, written = all_spots.columns()
        kinds, place = np.unique(form.astype(np.int64) << 5 | written, return_inverse=True)
        forms = self.names.forms
        each = [_probability(forms[kind >> 5], kind & 31) for kind in kinds.tolist()]
        likely = np.array(each, np.float64)[place.reshape(-1)]
        spots = np.flatnonzero(likely > _LEAST)
        begins = at[spots] << 32  # places in all texts, one behind the other
        spots = spots[_apart(begins + start[spots], begins + end[spots])]
        return spots, likely[spots]

    # --- Is it a mention? ---

    def _count(self, form: NDArray[Any], written: NDArray[Any], owner: NDArray[np.int64]) -> None:
        """Count how often each form is written as a name and in lower case, in its own text too."""
        forms = self.names.forms
        entities = max(len(self.titles), 1)
        pairs = [n * entities + entity for n, f in enumerate(forms) for entity, _ in f.owners]
        own = (owner >= 0) & np.isin(form.astype(np.int64) * entities + owner, pairs)
        several = np.array([len(f.words) > 1 for f in forms], bool)[form]
        named, articled, first, inside, quoted = (
            (written & bit) > 0 for bit in (NAMED, ARTICLED, FIRST, INSIDE, QUOTED)
        )
        # Every word has a capital at the beginning of a sentence.
        counted = ~first | several | quoted

        def number(which: NDArray[np.bool_]) -> NDArray[np.int64]:
            return np.bincount(form[which], minlength=len(forms))

        # Only all of them tell how their own documents write the names.
        small = number(own & (articled | (counted & ~named))) > 0
        small |= np.array([form.small_article for form in forms], bool)
        named |= articled & small[form]
        counts = (
            number(counted & named & ~inside),
            number(counted & named & inside),
            number(counted & ~named),
            number(counted & named & own),
            number(counted & ~named & own),
            small,
        )
        met = np.unique(form)
        for at, *numbers in zip(met.tolist(), *(n[met].tolist() for n in counts), strict=True):
            forms[at].count(*numbers)

    # --- Which entity is it? ---

    def _candidates(self, form: Form) -> list[tuple[int, float]]:
        """Return the entities of a name with their commonness, the commonest first."""
        if len(form.owners) == 1:
            return [(form.owners[0][0], 1.0)]
        counted = {e: w * (int(self._named[e]) + 1) for e, w in form.owners}
        total = sum(counted.values())
        ranked = sorted(((e, n / total) for e, n in counted.items()), key=lambda x: (-x[1], x[0]))
        return ranked[:_CANDIDATES]

    def mentions(self, text: str, chosen: Sequence[_Chosen], owner: int) -> list[Mention]:
        """Return the mentions of a text of this owner (-1 for none), among those `chosen` in it."""
        candidates = [self._candidates(self.names.forms[form]) for _, _, form, _ in chosen]
        qualified = any(self._qualifiers[entity] for known in candidates for entity, _ in known)
        present = frozenset(_words(text).keys if qualified else ())
        mentions: list[Mention] = []
        likeliest = [known[:3] for known in candidates]
        for at, (start, end, _, probability) in enumerate(chosen):
            voters = _voters(likeliest, at, owner)
            entity, commonness, coherence = self._decide(candidates[at], voters, present)
            score = (probability + coherence) / 2
            if score >= self.settings.threshold:
                mentions.append(
                    Mention(start, end, text[start:end], entity, commonness, coherence, score)
                )
        mentions += self._last_names(text, mentions, owner)
        return sorted(mentions, key=lambda mention: mention.start)

    def _decide(
        self, candidates: Voter, voters: Sequence[Voter], present: frozenset[str]
    ) -> tuple[int, float, float]:
        """Return the entity of a mention, its commonness and its coherence."""
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

    def _last_names(self, text: str, mentions: Sequence[Mention], owner: int) -> Iterator[Mention]:
        """Yield the mentions of people by their last name alone, outside of other mentions.

        A last name that two of the known people share is ambiguous and left out.
        """
        known = [(self.titles[owner], owner, 0)] if owner >= 0 else []
        known += [(m.surface, m.entity, m.end) for m in mentions]
        #: By last name: the entity, -1 where it is ambiguous, and the place after its full name.
        called: dict[str, tuple[int, int]] = {}
        for name, entity, since in known:
            raw = _name_words(name)
            if is_person_like(raw):
                other = called.get(raw[-1], (entity, since))
                called[raw[-1]] = other if other[0] == entity else (-1, 0)
        if not called:
            return
        edges = [0, *itertools.chain.from_iterable((m.start, m.end) for m in mentions), len(text)]
        outside = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
        if text.isascii() and not any(name in part for name in called for part in outside):
            return  # without cutting the text
        words = _words(text)
        occupied = iter(mentions)
        taken = next(occupied, None)
        for at, raw_word in enumerate(words.raw):
            if raw_word not in called:
                continue
            entity, since = called[raw_word]
            start, end = words.starts[at], words.ends[at]
            while taken and taken.end <= start:
                taken = next(occupied, None)
            if entity < 0 or start < since or (taken and taken.start < end):
                continue
            if is_part_of_name(words, at, at):
                continue  # somebody else's full name
            # Certain, given that the full name was linked correctly.
            yield Mention(start, end, text[start:end], entity, 1.0, 1.0, 0.5)


def _as_in(text: Words, name: tuple[str, ...]) -> str:
    """Return a name as a text writes it, or its words where the text lacks it."""
    size = len(name)
    for at in range(len(text.raw) - size + 1):
        if tuple(text.raw[at : at + size]) == name:
            return whole_words(text.text, text.starts[at], text.ends[at + size - 1])
    return " ".join(name)


def _probability(form: Form, written: int) -> float:
    named = written & NAMED or (written & ARTICLED and form.small_article)
    several = len(form.words) > 1
    if not several and is_stop_word(form.words[0]) and not form.is_acronym:
        return 0.5 if written & QUOTED and named else 0.0
    # Part of a title often occurs without meaning that entity.
    prior = (0.9 if several else 0.7) * (1.0 if form.weight > 0.8 else 0.8 if several else 0.4)
    if not named:
        if not form.is_common:
            return 0.0
        return prior * (0.8 if several else 0.4)
    free = prior * (form.free + 2) / (form.free + form.inside + 2)
    if written & QUOTED:
        return max(free, 0.8)
    if written & INSIDE:
        return free * (0.6 if several else 0.3)
    if written & FIRST and not several:
        return prior * (form.free + 1) / (form.free + form.inside + form.lower + 1)
    return free


def _apart(start: NDArray[Any], end: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of the spots, sorted by start, that overlap none that is kept before."""
    following = np.searchsorted(start, end).data
    apart = array("q")
    at = 0
    while at < len(following):
        apart.append(at)
        at = following[at]
    return np.frombuffer(apart, np.int64)


def _voters(candidates: Sequence[Voter], at: int, owner: int) -> list[Voter]:
    """Return the mentions around one, the nearest first, and the passage's own document."""
    voters: list[Voter] = [[(owner, 1.0)]] if owner >= 0 else []
    before, after = at - 1, at + 1
    while len(voters) < _VOTERS and (before >= 0 or after < len(candidates)):
        if before >= 0:
            voters.append(candidates[before])
        if after < len(candidates) and len(voters) < _VOTERS:
            voters.append(candidates[after])
        before, after = before - 1, after + 1
    return voters
