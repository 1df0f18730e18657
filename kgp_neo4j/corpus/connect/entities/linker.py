"""Links passages to the entities that they mention, by the corpus's own titles (TAGME, offline)."""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.entities.spots import (
    ARTICLED,
    FIRST,
    INSIDE,
    NAMED,
    QUOTED,
    Form,
    Names,
    Spots,
    rows_of,
)
from kgp_neo4j.corpus.connect.entities.surface_forms import names_of, qualifier_words
from kgp_neo4j.text.words import STOP_WORDS, cut
from kgp_neo4j.types.settings import EntitySettings

#: Candidates of a mention (entity, commonness) that vote for those of another.
Voter = Sequence[tuple[int, float]]
#: Pairs of entities whose relatedness is kept: neighbouring passages ask for the same ones.
_MOST_PAIRS = 1_000_000


class Links:
    """Which passages mention each entity; a document's own mention it too."""

    def __init__(self, entities: Iterable[int], passages: Iterable[int], number: int) -> None:
        self._passages = number
        self._passages_of: dict[int, set[int]] = {}
        for entity, passage in zip(entities, passages, strict=True):
            self._passages_of.setdefault(entity, set()).add(passage)
        self._related = lru_cache(_MOST_PAIRS)(self._relate)

    def vote(self, entity: int, voters: Sequence[Voter]) -> float:
        """Return the mean vote of a passage's other mentions for an entity (TAGME)."""
        total = 0.0
        for candidates in voters:
            share = 0.0
            for other, commonness in candidates:
                share += self._related(entity, other) * commonness
            total += share / len(candidates)
        return total / len(voters) if voters else 0.0

    def _relate(self, a: int, b: int) -> float:
        """Return how related two entities are, 0 to 1 (Milne and Witten 2008)."""
        if a == b:
            return 1.0
        first, second = self._passages_of.get(a, set()), self._passages_of.get(b, set())
        common = len(first & second)
        if not common:
            return 0.0
        few, many = sorted((len(first), len(second)))
        apart = math.log(many) - math.log(common)
        return max(0.0, 1 - apart / (math.log(max(self._passages, 2)) - math.log(few) + 1e-9))


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
    relatedness are counted in the texts that are linked, whatever their order: the names that
    `names.find` finds in all texts go to `learn`.
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
        numbers: dict[str, int] = {}
        for document, title in titles:
            number = numbers.setdefault(title, len(self.titles))
            if number == len(self.titles):
                self.titles.append(title)
                self.documents.append([])
                for name in names_of(title, (aliases or {}).get(title, ())):
                    self.names.add(number, name)
            self.documents[number].append(document)
            self.number[document] = number
        self._qualifiers = list(map(qualifier_words, self.titles))
        self._named = np.zeros(len(self.titles), np.int64)
        self._links = Links((), (), 0)

    def learn(self, spots: Spots, owners: Sequence[int]) -> Iterator[list[_Chosen]]:
        """Count how texts, of which these names were found, write and name the entities.

        `owners` has the entity of each text, -1 for none. Yields what may be mentions in each text.
        """
        owned = np.array(owners, np.int64)
        at, start, end, form, written = spots.columns()
        self._count(form, written, owned[at])
        likely, probability = self._choose(spots)
        sizes = np.bincount(at[likely], minlength=owned.size)
        # What the texts mention for certain: names that one entity has alone.
        alone = [f.owners[0][0] if len(f.owners) == 1 else -1 for f in self.names.forms]
        entity, text = np.array(alone, np.int64)[form[likely]], at[likely]
        certain = entity >= 0
        self._named = np.bincount(entity[certain], minlength=len(self.titles))
        places = np.flatnonzero(owned >= 0)
        texts = list(range(owned.size))  # of each one number, which all sets share
        self._links = Links(
            np.concatenate((owned[places], entity[certain])).data,
            map(texts.__getitem__, np.concatenate((places, text[certain])).data),
            owned.size,
        )
        return rows_of((start[likely], end[likely], form[likely], probability), sizes)

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

        small = number(own & (articled | (counted & ~named))) > 0
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
        for at, numbers in zip(met.tolist(), np.array(counts)[:, met].T.tolist(), strict=True):
            f = forms[at]
            f.free, f.inside, f.lower, f.own_name, f.own_lower, f.small_article = numbers

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
        present = frozenset(cut(text).keys if qualified else ())
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
        return mentions

    def _decide(
        self, candidates: Voter, voters: Sequence[Voter], present: frozenset[str]
    ) -> tuple[int, float, float]:
        """Return the entity of a mention, its commonness and its coherence."""
        ranked = []
        for entity, commonness in candidates:
            wanted = self._qualifiers[entity]
            # "film" beside "Ed Wood" supports the candidate Ed Wood (film).
            context = len(wanted & present) / len(wanted) if wanted else 0.0
            coherence = self._links.vote(entity, voters) + 0.5 * context
            ranked.append((coherence + commonness, entity, commonness, min(1.0, coherence)))
        return max(ranked, key=itemgetter(0))[1:]


def _probability(form: Form, written: int) -> float:
    named = written & NAMED or (written & ARTICLED and form.small_article)
    several = len(form.words) > 1
    if not several and form.words[0] in STOP_WORDS and not form.is_acronym:
        return 0.5 if written & QUOTED and named else 0.0
    # Part of a title often occurs without meaning that entity.
    is_whole = max(weight for _, weight in form.owners) > 0.8
    prior = (0.9 if several else 0.7) * (1.0 if is_whole else 0.8 if several else 0.4)
    if not named:
        return prior * (0.8 if several else 0.4) if form.is_common else 0.0
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
    own: list[Voter] = [[(owner, 1.0)]] if owner >= 0 else []
    near = (n for apart in range(1, len(candidates)) for n in (at - apart, at + apart))
    there = (candidates[n] for n in near if 0 <= n < len(candidates))
    return own + list(islice(there, _VOTERS - len(own)))
