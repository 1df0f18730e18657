"""Links passages to the entities that they mention, by the corpus's own titles (TAGME, offline)."""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

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
    Runs,
    rows_of,
)
from kgp_neo4j.corpus.connect.entities.surface_forms import names_of, qualifier_words
from kgp_neo4j.corpus.connect.pairs import Numbers, ranges, spread
from kgp_neo4j.text.words import STOP_WORDS, Words
from kgp_neo4j.types.settings import EntitySettings

#: Pairs of entities that are counted in texts at once, which limits the memory.
_MOST_COUNTED = 1_000_000


class Links:
    """Which texts mention each entity; a document's own mention it too."""

    def __init__(self, entity: Numbers, text: Numbers, entities: int, texts: int) -> None:
        text, entity = np.divmod(np.unique(text * entities + entity), max(entities, 1))
        size = np.bincount(entity, minlength=entities)
        #: Entities by how many texts they are in, so that few places are looked at for a pair.
        order = np.argsort(size, kind="stable")
        self._rank = np.empty(entities, np.int64)
        self._rank[order] = np.arange(entities)
        self._size = size[order]
        self._begin = np.cumsum(self._size) - self._size
        # An element for each entity of each text, by text; how many of the text follow it.
        rank = self._rank[entity]
        self._entity = rank[np.lexsort((rank, text))]
        self._rest = np.searchsorted(text, text, "right") - np.arange(text.size) - 1
        self._places = np.argsort(self._entity, kind="stable")
        # As `math` has them: numpy's differ between processors in the last bit.
        self._log = np.array([0.0, *map(math.log, range(1, max(texts, 2) + 1))])
        self._work = np.bincount(self._entity, self._rest, minlength=entities)

    def relate(self, first: Numbers, second: Numbers) -> NDArray[np.float64]:
        """Return how related pairs of entities are, 0 to 1 (Milne and Witten 2008)."""
        first, second = self._rank[first], self._rank[second]
        entities = max(self._size.size, 1)
        both = np.minimum(first, second) * entities + np.maximum(first, second)
        pairs, place = np.unique(both, return_inverse=True)
        rarer, other = np.divmod(pairs, entities)
        common = np.zeros(pairs.size, np.int64)
        one = np.unique(rarer)
        for low, high in ranges(self._work[one], _MOST_COUNTED):
            some = one[low:high]
            at = self._places[spread(self._begin[some], self._size[some])[1]]
            own, beside = spread(at + 1, self._rest[at])
            found = self._entity[at[own]] * entities + self._entity[beside]
            where = np.minimum(np.searchsorted(pairs, found), pairs.size - 1)
            common += np.bincount(where[pairs[where] == found], minlength=pairs.size)
        related = np.where(rarer == other, 1.0, 0.0)
        both = np.flatnonzero((common > 0) & (rarer != other))
        few, many = self._log[self._size[rarer[both]]], self._log[self._size[other[both]]]
        apart = (many - self._log[common[both]]) / (self._log[-1] - few + 1e-9)
        related[both] = np.maximum(0.0, 1 - apart)
        return related[place.reshape(-1)]


# --- The linker ---

#: Most candidates of a name that are compared, that vote, and most mentions that vote on them.
_CANDIDATES = 20
_LIKELIEST = 3
_VOTERS = 12
#: Link probability that a mention must exceed.
_LEAST = 0.1
#: Spots that are linked at once, or those of one text: pairs that they share are counted once.
_AT_ONCE = 50_000
#: Of each spot that may be a mention: its text, start, end and form, and how likely it is one.
_Columns = tuple[NDArray[Any], ...]


class Mention(NamedTuple):
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
    relatedness are counted in the texts that are linked, whatever their order: all go to `read`
    first, then to `link`.
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
        #: The words that qualify titles, numbered, those of each entity and each text read, and
        #: the spots of each text.
        self._words: dict[str, int] = {}
        self._qualifiers, self._present, self._spots = Runs(), Runs(), Runs()
        for title in self.titles:
            words = qualifier_words(title)
            self._qualifiers.add([self._words.setdefault(w, len(self._words)) for w in words])

    def read(self, text: Words) -> None:
        """Find the names in the next text, which `link` takes once all are read."""
        self._spots.add([*chain.from_iterable(self.names.find(text))])
        self._present.add({self._words[word] for word in text.keys if word in self._words})

    def link(
        self, texts: Iterable[str], owners: Sequence[int]
    ) -> Iterator[tuple[str, list[Mention]]]:
        """Yield each text that was read, given again, with its mentions; some are taken ahead.

        `owners` has the entity of each text, -1 for none.
        """
        owned, following = np.array(owners, np.int64), iter(texts)
        columns = self._learn(owned)
        sizes = np.bincount(columns[0], minlength=owned.size)
        ends = np.append(0, np.cumsum(sizes))
        for low, high in ranges(sizes + 1, _AT_ONCE):
            some = list(islice(following, high - low))
            here = slice(ends[low], ends[high])
            text, *rest = (column[here] for column in columns)
            present = self._present.of(np.arange(low, high))
            yield from self._mentions(some, (text - low, *rest), owned[low:high], present)

    def _learn(self, owned: NDArray[np.int64]) -> _Columns:
        """Count how texts write and name the entities; return what may be mentions in them."""
        at, start, end, form, written = self._spots.columns(4)
        self._count(form, written, owned[at])
        kinds, place = np.unique(form.astype(np.int64) << 5 | written, return_inverse=True)
        forms = self.names.forms
        each = [_probability(forms[kind >> 5], kind & 31) for kind in kinds.tolist()]
        probability = np.array(each, np.float64)[place.reshape(-1)]
        # The spots that may be mentions, none overlapping.
        likely = np.flatnonzero(probability > _LEAST)
        begins = at[likely] << 32  # places in all texts, one behind the other
        likely = likely[_apart(begins + start[likely], begins + end[likely])]
        # What the texts mention for certain: names that one entity has alone.
        alone = [f.owners[0][0] if len(f.owners) == 1 else -1 for f in forms]
        entity, text = np.array(alone, np.int64)[form[likely]], at[likely]
        certain = entity >= 0
        self._named = np.bincount(entity[certain], minlength=len(self.titles))
        places = np.flatnonzero(owned >= 0)
        entities = np.concatenate((owned[places], entity[certain]))
        texts = np.concatenate((places, text[certain]))
        self._links = Links(entities, texts, len(self.titles), owned.size)
        self._compare()
        return text, *(column[likely] for column in (start, end, form, probability))

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

    def _compare(self) -> None:
        """Keep the candidates of all names by their number, then each entity as its own name."""
        entity, commonness, sizes = array("i"), array("d"), array("i")
        for form in self.names.forms:
            known = self._candidates(form)
            sizes.append(len(known))
            entity.extend(e for e, _ in known)
            commonness.extend(share for _, share in known)
        entities = len(self.titles)
        self._entity = np.append(entity, np.arange(entities))
        self._commonness = np.append(commonness, np.ones(entities))
        self._sizes = np.append(sizes, np.ones(entities, np.int32))
        self._begins = np.cumsum(self._sizes) - self._sizes

    def _candidates(self, form: Form) -> list[tuple[int, float]]:
        """Return the entities of a name with their commonness, the commonest first."""
        if len(form.owners) == 1:
            return [(form.owners[0][0], 1.0)]
        counted = {e: w * (int(self._named[e]) + 1) for e, w in form.owners}
        total = sum(counted.values())
        ranked = sorted(((e, n / total) for e, n in counted.items()), key=lambda x: (-x[1], x[0]))
        return ranked[:_CANDIDATES]

    def _mentions(
        self, texts: Sequence[str], columns: _Columns, owners: Numbers, present: _Columns
    ) -> Iterator[tuple[str, list[Mention]]]:
        """Yield some texts with their mentions; `present` are texts and words that qualify."""
        at, start, end, form, probability = columns
        spot, place = spread(self._begins[form], self._sizes[form])
        entity, commonness = self._entity[place], self._commonness[place]
        coherence = self._votes(spot, entity, at, form, owners)
        # "film" beside "Ed Wood" supports the candidate Ed Wood (film).
        row, word = self._qualifiers.of(entity)
        words, (where, found) = max(len(self._words), 1), present
        met = np.isin(at[spot[row]] * words + word, where * words + found)
        wanted = np.bincount(row, minlength=entity.size)
        coherence += 0.5 * (np.bincount(row, met, entity.size) / np.maximum(wanted, 1))
        # Of equal candidates the commonest, which comes first.
        order = np.lexsort((-(coherence + commonness), spot))
        best = order[np.searchsorted(spot, np.arange(at.size))]
        coherence = np.minimum(coherence[best], 1.0)
        score = (probability + coherence) / 2
        kept = np.flatnonzero(score >= self.settings.threshold)
        sizes = np.bincount(at[kept], minlength=len(texts))
        chosen = (start, end, entity[best], commonness[best], coherence, score)
        for each, rows in zip(texts, rows_of([one[kept] for one in chosen], sizes), strict=True):
            yield each, [Mention(row[0], row[1], each[row[0] : row[1]], *row[2:]) for row in rows]

    def _votes(
        self, spot: Numbers, entity: Numbers, at: Numbers, form: Numbers, owners: Numbers
    ) -> NDArray[np.float64]:
        """Return the mean vote for each candidate (TAGME): `entity` for the mention at a `spot`.

        Those who vote are its text's own document, and the mentions around it, the nearest first.
        """
        places = np.arange(at.size)[:, None]
        before = places - np.searchsorted(at, at)[:, None]
        after = np.searchsorted(at, at, "right")[:, None] - 1 - places
        turn = np.arange(_VOTERS)
        both = np.minimum(before, after)  # so many on either side; then those of one side alone
        apart = np.where(turn < 2 * both, turn // 2 + 1, turn - both + 1)
        left = np.where(turn < 2 * both, turn % 2 == 0, before > after)
        own = owners[at] >= 0
        there = turn < np.minimum(before + after, _VOTERS - own[:, None])
        near = np.where(there, places + np.where(left, -apart, apart), 0)
        names = np.column_stack((len(self.names.forms) + owners[at], form[near]))
        votes = np.column_stack((own, there))
        name = names[votes]
        size = np.minimum(self._sizes[name], _LIKELIEST)
        count = votes.sum(axis=1)
        begin = np.cumsum(count) - count
        row, vote = spread(begin[spot], count[spot])
        each, place = spread(self._begins[name][vote], size[vote])
        related = self._links.relate(entity[row[each]], self._entity[place])
        share = np.bincount(each, related * self._commonness[place], vote.size) / size[vote]
        total = np.bincount(row, share, spot.size)
        return np.asarray(total / np.maximum(count, 1)[spot], np.float64)


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
