"""Links passages to the entities that they mention, by the corpus's own titles (TAGME, offline)."""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from kgp_neo4j.corpus.connect.entity_names import Names, names_of, qualifier_words
from kgp_neo4j.text.words import Words
from kgp_neo4j.types.settings import EntitySettings

#: Most candidates of a name that are compared, that vote, and most mentions that vote on them.
_CANDIDATES = 20
_LIKELIEST = 3
_VOTERS = 12
#: Link probability that a mention must exceed.
_LEAST = 0.1
#: Pairs of entities whose relatedness is kept.
_KEPT = 1 << 19
#: Entities of a name with their commonness, the commonest first.
_Candidates = list[tuple[int, float]]
#: A name that may be a mention: its start, its end, the number of its form, and how likely it is.
_Likely = tuple[int, int, int, float]


class Mention(NamedTuple):
    """A part of a passage that names an entity: `surface == passage[start:end]`, in characters.

    `commonness` is how often the surface means this entity, `coherence` how related the entity is
    to the others of the passage, `score` TAGME's rho. All three are from 0 to 1.
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

    Documents of the same title are one entity. `aliases` gives more names by title, and
    `settings.threshold` prunes mentions by score. All texts go to `read` in any order, then `link`.
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
        self._qualifiers = [qualifier_words(title) for title in self.titles]
        self._qualifying = frozenset(chain.from_iterable(self._qualifiers))
        #: Of each text read the names in it, four numbers each, and the words that qualify titles.
        self._found: list[Sequence[int]] = []
        self._present: list[Set[str]] = []
        #: The texts that mention each entity for certain: its own, and those with a name that it
        #: has alone; and how often such a name stands in any.
        self._mentioning: dict[int, set[int]] = defaultdict(set)
        self._named = Counter[int]()
        self._probability = lru_cache(None)(lambda at, how: self.names.forms[at].probability(how))
        self._candidates = lru_cache(_KEPT)(self._ranked)
        self._related = lru_cache(_KEPT)(self._relate)

    def read(self, text: Words) -> None:
        """Find the names in the next text, which `link` takes once all are read."""
        self._found.append(array("i", chain.from_iterable(self.names.find(text))))
        self._present.append(self._qualifying.intersection(text.keys))

    def link(
        self, texts: Iterable[str], owners: Sequence[int]
    ) -> Iterator[tuple[str, list[Mention]]]:
        """Yield each text read, given again, with its mentions; `owners` are its entity or -1."""
        self._learn(owners)
        each = zip(texts, owners, self._found, self._present, strict=True)
        for text, owner, found, present in each:
            yield text, [*self._mentions(text, self._likely(found), owner, present)]

    def _learn(self, owners: Sequence[int]) -> None:
        """Count how texts write and name the entities."""
        forms = self.names.forms
        counts = Counter(
            (number, written, owner in forms[number].owners)
            for found, owner in zip(self._found, owners, strict=True)
            for number, written in zip(found[2::4], found[3::4], strict=True)
        )
        for (number, written, own), times in counts.items():
            forms[number].count(written, own, times)
        for text, (found, owner) in enumerate(zip(self._found, owners, strict=True)):
            if owner >= 0:
                self._mentioning[owner].add(text)
            for _, _, number, _ in self._likely(found):
                if len(forms[number].owners) == 1:
                    (entity,) = forms[number].owners
                    self._named[entity] += 1
                    self._mentioning[entity].add(text)

    def _likely(self, found: Sequence[int]) -> list[_Likely]:
        """Return the names that may be mentions, none overlapping one before it."""
        likely: list[_Likely] = []
        numbers, until = iter(found), 0
        for start, end, number, written in zip(*[numbers] * 4, strict=True):
            if start >= until and (probability := self._probability(number, written)) > _LEAST:
                likely.append((start, end, number, probability))
                until = end
        return likely

    def _ranked(self, number: int) -> _Candidates:
        """Return the entities of a name with their commonness, the commonest first."""
        owners = self.names.forms[number].owners
        counted = {e: weight * (self._named[e] + 1) for e, weight in owners.items()}
        total = sum(counted.values())
        ranked = sorted(((e, n / total) for e, n in counted.items()), key=lambda x: (-x[1], x[0]))
        return ranked[:_CANDIDATES]

    def _relate(self, one: int, other: int) -> float:
        """Return how related entities are, by the texts that mention them (Milne, Witten 2008)."""
        both = self._mentioning[one], self._mentioning[other]
        common = len(both[0] & both[1])
        if one == other or not common:
            return float(one == other)
        few, many = sorted(map(len, both))
        apart = math.log(many / common) / (math.log(max(len(self._found), 2) / few) + 1e-9)
        return max(0.0, 1.0 - apart)

    def _mentions(
        self, text: str, likely: Sequence[_Likely], owner: int, present: Set[str]
    ) -> Iterator[Mention]:
        """Yield the mentions of a text."""
        own: list[_Candidates] = [[(owner, 1.0)]] if owner >= 0 else []
        candidates = [self._candidates(number) for _, _, number, _ in likely]
        voting = [each[:_LIKELIEST] for each in candidates]
        for at, (start, end, _, probability) in enumerate(likely):
            # Those who vote are the text's own document and the mentions around, the nearest first.
            near = range(max(0, at - _VOTERS), min(len(likely), at + _VOTERS + 1))
            _, *around = sorted(near, key=lambda place: abs(place - at))
            voters = [*own, *(voting[place] for place in around)][:_VOTERS]
            best = (-1.0, 0.0, 0, 0.0)
            for entity, commonness in candidates[at]:
                # The mean vote (TAGME).
                votes = (
                    sum(n * self._related(entity, e) for e, n in of) / len(of) for of in voters
                )
                coherence = sum(votes) / max(len(voters), 1)
                # "film" beside "Ed Wood" supports the candidate Ed Wood (film).
                if words := self._qualifiers[entity]:
                    coherence += 0.5 * len(words & present) / len(words)
                # Of equal candidates the commonest, which comes first.
                if coherence + commonness > best[0]:
                    best = coherence + commonness, min(coherence, 1.0), entity, commonness
            _, coherence, entity, commonness = best
            score = (probability + coherence) / 2
            if score >= self.settings.threshold:
                yield Mention(start, end, text[start:end], entity, commonness, coherence, score)
