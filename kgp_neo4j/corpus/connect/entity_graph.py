"""Makes the entity graph (KGP's TAGME graph): mentions, and edges between passages sharing them.

Passages mention documents by their titles, and phrases that other passages have, too.
"""

import html
import itertools
import math
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import regex

from kgp_neo4j.corpus.connect import graph_build
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.job import ahead, bar
from kgp_neo4j.graphdb.database import Row, in_batches
from kgp_neo4j.text.safe import parts
from kgp_neo4j.text.words import STOP_WORDS, Words, cut, fold, words
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.settings import EntitySettings

#: Most words of a name; longer titles are sentences, which no text repeats.
LONGEST = 12
_PARENTHESIS = regex.compile(r"(?<!\s)\s*+[(（]([^()（）]*+)[)）]\s*+$")
_COMMA = regex.compile(r"^([^,，]+)(?:,\s|，)\s*(\p{Lu}[^\s,]*(?:\s[^\s,]+)?)$")
_REGNAL = regex.compile(r"^(\p{Lu}\p{L}+ [IVX]+),? of\b")
#: Suffixes of clubs, companies and people that texts leave out.
_SUFFIX = regex.compile(
    r"(?:,|(?<!\s))\s++(?:[AS]?\.?F\.?C\.?|C\.?F\.?|Inc\.?|Ltd\.?|LLC|plc|PLC|B\.?V\.?|GmbH|AG|Jr\.?|Sr\.?)$"
)
#: The words of a title, which is cut for each of its names.
_cut = lru_cache(maxsize=64)(cut)
Name = tuple[tuple[str, ...], tuple[str, ...], float]
"""The words of a name in lower case and as written, and its weight: 1 for the whole title."""


def names_of(title: str, aliases: Iterable[str] = ()) -> Iterator[Name]:
    """Yield each name of an entity once, with the highest weight first."""
    title = html.unescape(title)
    bare = _PARENTHESIS.sub("", title).strip()
    given = [(title, 1.0), *((alias, 0.9) for alias in aliases), (bare, 0.5)]
    for pattern in (_COMMA, _REGNAL):
        if parted := pattern.match(bare):
            given.append((parted[1], 0.3))
    given.append((_SUFFIX.sub("", bare), 0.4))
    seen: set[tuple[str, ...]] = set()
    for text, weight in given:
        for form in _spellings(text):
            parts = _cut(form)
            keys = tuple(parts.keys)
            # One letter names nothing; one Chinese character may.
            letter = len(keys) == 1 and len(keys[0]) == 1 and keys[0].isascii()
            if 0 < len(keys) <= LONGEST and keys not in seen and not letter:
                seen.add(keys)
                yield keys, tuple(parts.raw), weight


def _spellings(text: str) -> Iterator[str]:
    yield text
    if "&" in text:
        yield text.replace("&", " and ")
    elif " and " in text:
        yield text.replace(" and ", " ")  # as "&" is no word
    raw = _cut(text).raw
    last = raw[-1] if raw else ""
    if len(raw) == 1 and last.isalpha() and last.isupper() and 2 <= len(last) <= 5:
        yield ".".join(last)
    elif 2 <= len(raw) <= 5 and all(len(w) == 1 and w.isupper() for w in raw):
        yield "".join(raw)
    elif len(last) > 2 and last.isalpha() and last.islower() and text.endswith(last):
        # A common noun: "aircraft carriers", "universities".
        if last[-1] == "y" and last[-2] not in "aeiou":
            yield f"{text[:-1]}ies"
        elif last[-1] != "s":
            yield f"{text}s"


def qualifier_words(title: str) -> frozenset[str]:
    """Return the words that distinguish a title from similar ones: "film" of "Ed Wood (film)"."""
    qualifier, parted = _PARENTHESIS.search(title), _COMMA.match(title)
    text = (qualifier and qualifier[1]) or (parted and parted[2]) or ""
    return frozenset(fold(w) for w in _cut(text).raw if fold(w) not in STOP_WORDS)


def read_aliases(path: str | Path, titles: Collection[str]) -> dict[str, list[str]]:
    """Return the aliases of each title in a file of lines `alias<TAB>title`.

    Titles that are not in `titles` are ignored. Raises InputError for a file that cannot be read,
    for a line of another form, and where none of the titles is known.
    """
    hint = "Each line is an alias, a tab, and the title of a document, in UTF-8."
    try:
        lines = expanded(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"it cannot be read ({error})", where=str(path), hint=hint) from error
    aliases: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        parts = [part.strip() for part in line.split("\t")]
        if not any(parts):
            continue
        if len(parts) != 2 or not all(parts):
            where = f"{path}:{number}"
            raise InputError("this line names no alias and title", where=where, hint=hint)
        if parts[1] in titles:
            aliases[parts[1]].append(parts[0])
    if not aliases:
        what = "none of its titles is a document of the corpus"
        raise InputError(what, where=str(path), hint=hint)
    return dict(aliases)


_QUOTES = "\"'“”‘’«»„‚「」『』《》"
_SOFT = frozenset((" ", "-", "'", "’", "", ".", "–", " & ", "&", "/", ": ", "·", " - "))
_HARD = frozenset(",;.!?()[]{}\n\t|")
_SHORTENED = frozenset("bros co dr ft gen hon jr lt mr mrs ms mt no prof rev sgt sr st vs".split())
#: Key of a name's end in the tree; no word is empty.
_END = ""


#: How an occurrence of a name is written, in bits. NAMED: it has the case of the title; FIRST: it
#: begins a sentence; INSIDE: it is part of a longer run of capitalised words; QUOTED: it is alone
#: in quotation marks.
NAMED, FIRST, INSIDE, QUOTED = (1 << bit for bit in range(4))
Spot = tuple[int, int, int, int]
"""A form found in a text: start, end, the number of the form, and how it is written there."""


@dataclass(slots=True)
class Form:
    """A name as a sequence of words, the entities that have it, and how the corpus writes it."""

    words: tuple[str, ...]
    #: The weight of the name for each entity.
    owners: dict[int, float] = field(default_factory=dict)
    #: Its spellings in titles, to compare case with.
    written: set[tuple[str, ...]] = field(default_factory=set)
    #: Counts of occurrences within sentences: written as a name, as part of a longer name, and in
    #: lower case; then as a name and in lower case in the documents with this title.
    free: int = 0
    inside: int = 0
    lower: int = 0
    own_name: int = 0
    own_lower: int = 0

    @property
    def is_acronym(self) -> bool:
        """Whether it is written in capitals throughout ("WHO")."""
        return len(self.words) == 1 and all(w[0].isupper() and len(w[0]) > 1 for w in self.written)

    @property
    def is_common(self) -> bool:
        """Whether it is a common noun ("Cult film"), which texts write in lower case."""
        if self.is_acronym:
            return False
        if self.own_name + self.own_lower > 0:
            # A single word that its document writes as a name even once is one ("Life", a film).
            most = 0 if len(self.words) == 1 else self.own_lower - 1
            return self.own_lower > 0 and self.own_name <= most
        return any(
            w[0][:1].islower() or any(x[:1].islower() and x not in STOP_WORDS for x in w[1:])
            for w in self.written
        )

    def count(self, written: int, own: bool, times: int) -> None:
        """Count occurrences, in a document of this title if `own`."""
        if written & FIRST and len(self.words) == 1 and not written & QUOTED:
            return  # every word has a capital at the beginning of a sentence
        if not written & NAMED:
            self.lower += times
            self.own_lower += times * own
            return
        self.own_name += times * own
        if written & INSIDE:
            self.inside += times
        else:
            self.free += times

    def probability(self, written: int) -> float:
        """Return how likely an occurrence is a mention (TAGME's link probability)."""
        several = len(self.words) > 1
        if not several and self.words[0] in STOP_WORDS and not self.is_acronym:
            return 0.5 if written & QUOTED and written & NAMED else 0.0
        # Part of a title often occurs without meaning that entity.
        is_whole = max(self.owners.values()) > 0.8
        prior = (0.9 if several else 0.7) * (1.0 if is_whole else 0.8 if several else 0.4)
        if not written & NAMED:
            return prior * (0.8 if several else 0.4) if self.is_common else 0.0
        free = prior * (self.free + 2) / (self.free + self.inside + 2)
        if written & QUOTED:
            return max(free, 0.8)
        if written & INSIDE:
            return free * (0.6 if several else 0.3)
        if written & FIRST and not several:
            return prior * (self.free + 1) / (self.free + self.inside + self.lower + 1)
        return free


class Names:
    """All names in one tree of words, which searches a text in one pass, linear in its length."""

    def __init__(self) -> None:
        self.forms: list[Form] = []
        self._tree: dict[str, Any] = {}

    def add(self, entity: int, name: Name) -> None:
        """Add a name of an entity."""
        words, written, weight = name
        node = self._tree
        for word in words:
            node = node.setdefault(word, {})
        number: int = node.setdefault(_END, len(self.forms))
        if number == len(self.forms):
            self.forms.append(Form(words))
        form = self.forms[number]
        form.owners.setdefault(entity, weight)
        form.written.add(written)

    def find(self, words: Words) -> list[Spot]:
        """Return every name in a text, by start, the longest first."""
        spots: list[Spot] = []
        keys = words.keys
        for at in range(len(keys)):
            names: list[Spot] = []
            node: Any = self._tree
            last = at
            while last < len(keys) and (node := node.get(keys[last])):
                if _END in node and _is_contiguous(words, at, last):
                    number = node[_END]
                    names.append(_spot(words, at, last, number, self.forms[number]))
                last += 1
            spots += reversed(names)
        return spots


def _spot(words: Words, at: int, last: int, number: int, form: Form) -> Spot:
    text, start, end = words.text, words.starts[at], words.ends[last]
    if last > at and end - words.starts[last] == 1 and text[end - 2 : end + 1 : 2] == "..":
        end += 1  # the last stop of "U.S."
    raw = tuple(words.raw[at : last + 1])
    quoted = (
        start > 0
        and end < len(text)
        and text[start - 1] in _QUOTES
        and (text[end] in _QUOTES or text[end : end + 2] in (',"', '."', ",”", ".”"))
    )
    first = begins_sentence(words, at)
    inside = not quoted and _is_part_of_name(words, at, last, first)
    written = FIRST * first | INSIDE * inside | QUOTED * quoted
    return start, end, number, written | NAMED * _is_named(raw, form)


def _is_part_of_name(words: Words, at: int, last: int, first: bool) -> bool:
    """Return whether a capitalised word before or behind the words [at, last] is of their name."""
    # Where these are the first of a sentence, none before them is.
    if not first and continues_name(words, at) and _is_name_word(words, at - 1):
        return True
    after = last + 1
    return after < len(words.raw) and continues_name(words, after) and _is_name_word(words, after)


def _is_name_word(words: Words, at: int) -> bool:
    """Return whether a word has a capital of its own, not that of a sentence's first word."""
    raw = words.raw[at]
    if not raw[:1].isupper() or raw == "I":
        return False
    return not (words.keys[at] in STOP_WORDS and begins_sentence(words, at))


def _is_named(raw: tuple[str, ...], form: Form) -> bool:
    """Return whether the words have capitals where the title has them."""
    # All spellings of a form have as many words.
    return raw in form.written or any(
        all(_fits(word, title[at], at, len(raw) > 2) for at, word in enumerate(raw))
        for title in form.written
    )


def _fits(word: str, title: str, at: int, article: bool) -> bool:
    if word == title or word[:1].lower() == word[:1].upper():
        return True  # the same, or a script without case
    if at == 0 and article and title.lower() in STOP_WORDS:
        return True  # "the Rolling Stones"
    if title.isupper() and 1 < len(title) <= 4:
        return word.isupper()  # "US" is not "us"
    return word[:1].isupper() or (at > 0 and title[:1].islower())


def continues_name(words: Words, at: int) -> bool:
    """Return whether a word may belong to the same name as the one before it."""
    gap = words.text[words.ends[at - 1] : words.starts[at]]
    return gap in (" ", "\u00a0", "-", "–", "") or (
        gap in (". ", ".") and len(words.raw[at - 1]) == 1
    )


def _is_contiguous(words: Words, at: int, last: int) -> bool:
    """Return whether the words belong together: no end of a sentence or the like between them."""
    for i in range(at + 1, last + 1):
        gap = words.text[words.ends[i - 1] : words.starts[i]].replace("\u00a0", " ")
        if gap in _SOFT:
            continue
        if gap == ". ":
            if len(words.raw[i - 1]) > 1 and words.keys[i - 1] not in _SHORTENED:
                return False
        elif gap in (", ", ' "', '" ', " (", "! ", "? "):
            continue  # "Paris, Texas" and "Help! (song)" are titles
        elif len(gap) > 3 or not _HARD.isdisjoint(gap):
            return False
    return True


def begins_sentence(words: Words, at: int) -> bool:
    """Return whether a word is the first of a sentence, where every word has a capital."""
    gap = words.text[words.ends[at - 1] : words.starts[at]] if at else "\n"
    stop = gap.strip(" ([{" + _QUOTES)
    # The stop of an initial, or within a word, ends none.
    inner = stop == "." and (len(words.raw[at - 1]) == 1 or not gap[-1].isspace())
    return "\n" in gap or (stop.endswith(tuple(".!?。！？")) and not inner)


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


#: Words of the longest phrase, and small words that may stand inside one ("Bank of England").
_LONGEST = 5
_BETWEEN = frozenset(("of", "the", "and", "de", "la", "del", "di", "da", "van", "von", "for"))


class Phrase(NamedTuple):
    """A phrase: its key for comparison, as written, and its place in characters, none in titles."""

    key: str
    surface: str
    start: int | None
    end: int | None

    @classmethod
    def at(cls, title: str, text: str, start: int, end: int) -> Self:
        """Return the phrase at a place of a text, or of its title where the place is negative."""
        past = len(title) + 1
        surface = text[start:end] if start >= 0 else title[start + past : end + past]
        place = (start, end) if start >= 0 else (None, None)
        return cls(_key(surface), surface, *place)


class Phrases:
    """The phrases of passages, in their order.

    A phrase is a run of up to five capitalised words and numbers, or a part of one. Scripts without
    capitals have none. Time and memory are linear: 17 bytes for a phrase of a passage.
    """

    def __init__(self) -> None:
        self._sure: set[str] = set()
        #: Of each phrase of each passage: a hash of its key, whether it is one word, and its place,
        #: in the title where this is negative.
        self._hashes, self._single = array("q"), array("b")
        self._starts, self._ends = array("i"), array("i")
        self._sizes = array("q")

    def add(self, title: Words, text: Words) -> None:
        """Read the next passage."""
        first: dict[str, tuple[int, int]] = {}
        past = len(title.text) + 1
        for part, moved in ((title, past), (text, 0)):
            whole = unicodedata.is_normalized("NFKC", part.text)
            for key, start, end in _phrases(part, self._sure):
                # In NFKC "7⅓" is "71" and "3", of which each has both characters.
                name = key if whole else _key(part.text[start:end])
                first.setdefault(name, (start - moved, end - moved))
        self._hashes.extend(map(hash, first))
        self._single.extend(" " not in key for key in first)
        self._starts.extend(start for start, _ in first.values())
        self._ends.extend(end for _, end in first.values())
        self._sizes.append(len(first))

    def shared(self, most: int) -> Iterator[list[tuple[int, int]]]:
        """Yield the places in each passage of the phrases that 2 to `most` passages have.

        Each comes once; a single word that occurs only at the beginning of sentences is none.
        """
        hashes = np.frombuffer(self._hashes, np.int64)
        known, first, number, count = np.unique(
            hashes, return_index=True, return_inverse=True, return_counts=True
        )
        sure = np.fromiter(map(hash, self._sure), np.int64, len(self._sure))
        is_name = np.isin(known, sure) | (np.frombuffer(self._single, np.int8)[first] == 0)
        wanted = is_name & (count >= 2) & (count <= most)
        places = np.flatnonzero(wanted[number.reshape(-1)])
        passage = np.repeat(np.arange(len(self._sizes)), np.frombuffer(self._sizes, np.int64))
        starts, ends = (np.frombuffer(at, np.int32)[places] for at in (self._starts, self._ends))
        sizes = np.bincount(passage[places], minlength=len(self._sizes))
        rows = zip(starts.data, ends.data, strict=True)
        return (list(islice(rows, size)) for size in sizes.data)


def _key(surface: str) -> str:
    found = words(surface)
    return " ".join(found).lower() if surface.isascii() else " ".join(map(fold, found))


def _phrases(text: Words, sure: set[str]) -> Iterator[tuple[str, int, int]]:
    """Yield every phrase of a text with its place, by start, the longest first.

    `sure` collects the numbers, and the single words that have a capital inside a sentence.
    """
    for run in _runs(text):
        ends = [at for at in range(*run) if _may_end(text, at)]
        for n, at in enumerate(ends):
            for last in reversed(ends[n : n + _LONGEST]):
                key = " ".join(text.keys[at : last + 1])
                if last >= at + _LONGEST or len(key) < 2:
                    continue
                if last == at and (key[0].isdigit() or not begins_sentence(text, at)):
                    sure.add(key)
                yield key, text.starts[at], text.ends[last]


def _may_end(words: Words, at: int) -> bool:
    raw = words.raw[at]
    return (raw[0].isupper() or raw[0].isdigit()) and words.keys[at] not in STOP_WORDS


def _runs(words: Words) -> Iterator[tuple[int, int]]:
    """Yield the runs of name words, as [first, last)."""
    first = last = -1
    for at, raw in enumerate(words.raw):
        if not (raw[0].isupper() or raw[0].isdigit() or raw in _BETWEEN):
            continue
        if first < 0 or at > last + 1 or not continues_name(words, at):
            if first >= 0:
                yield first, last + 1
            first = at if _may_end(words, at) else -1
        last = at
    if first >= 0:
        yield first, last + 1


#: A title of more documents than this is too ambiguous to be a mention.
_MOST_SAME_TITLE = 20


@dataclass(frozen=True, slots=True)
class Linked:
    """What one passage mentions: documents by id, and phrases that others have too."""

    documents: list[dict[str, Any]]
    phrases: list[Phrase]


def link_all(linker: EntityLinker, passages: Sequence[Row]) -> Iterator[Linked]:
    """Yield what all passages of a corpus mention, in order; a text leaves its row then."""
    phrases = Phrases()
    for passage in passages:
        words = cut(passage["text"])
        linker.read(words)
        if linker.settings.phrases:
            # A passage also has the phrases of its title, without a place in the text.
            phrases.add(cut(passage["title"]), words)
    owners = [linker.number[passage["document"]] for passage in passages]
    linked = linker.link((passage.pop("text") for passage in passages), owners)
    shared: Iterator[list[tuple[int, int]]] = iter([[]] * len(passages))
    if linker.settings.phrases:
        shared = phrases.shared(linker.settings.phrase_frequency)
    each = zip(passages, owners, linked, shared, strict=True)
    for passage, owner, (text, mentions), places in each:
        documents = _documents(linker, [m for m in mentions if m.entity != owner])
        title = passage["title"]
        yield Linked(documents, [Phrase.at(title, text, start, end) for start, end in places])


def _documents(linker: EntityLinker, mentions: Sequence[Mention]) -> list[dict[str, Any]]:
    """Return one row for each document mentioned: its best mention, with the places of all."""
    rows: dict[str, dict[str, Any]] = {}
    for mention in mentions:
        documents = linker.documents[mention.entity]
        if len(documents) > _MOST_SAME_TITLE:
            continue
        for document in documents:
            row = rows.get(document)
            places = [*(row["offsets"] if row else ()), mention.start, mention.end]
            if row is None or mention.score > row["score"]:
                row = {"document": document}
                row |= parts(mention, "surface", "start", "end", "coherence")
                row["commonness"] = mention.commonness / len(documents)
                row["score"] = mention.score / len(documents) ** 0.5
            rows[document] = row | {"offsets": places}
    return list(rows.values())


def mention_marks(
    batch: Sequence[Linked], stored: Sequence[str | None], complete: Sequence[bool]
) -> dict[int, str]:
    """Return the places of the passages that are to be written, with their marks (`outdated`)."""
    documents: list[str] = []
    values: list[tuple[float, float, float]] = []
    for linked in batch:
        for m in linked.documents:
            documents.append(f"{m['document']} {m['surface']} {m['start']} {m['offsets']}")
            values.append((m["commonness"], m["coherence"], m["score"]))
    phrases = graph_build.hash_texts(repr(linked.phrases) for linked in batch)
    places = np.arange(len(batch))
    each = np.arange(3, dtype=np.uint64) * graph_build.MULTIPLIER
    counts = [3 * len(one.documents) for one in batch]
    passage = np.concatenate((places, np.repeat(places, counts)))
    said = np.concatenate((phrases, (graph_build.hash_texts(documents)[:, None] + each).ravel()))
    weight = np.concatenate((np.zeros(len(batch)), np.array(values, np.float64).ravel()))
    return graph_build.outdated(passage, said, weight, stored, np.array(complete))


#: The edges between passages, as `connect/shared` takes them.
_EDGE = {"type": "SHARES_ENTITY", "items": "entities", "marks": "sharedEntityMarks"}
_BATCH = 1000
#: Which linker has linked a passage, as its `linkedBy` says.
_LINKER = "titles"
_Build: TypeAlias = graph_build.GraphBuild[EntitySettings]


def aliases_of(build: _Build) -> dict[str, list[str]]:
    """Return the other names of documents by title; raises InputError for an invalid file."""
    if not (file := build.settings.aliases):
        return {}
    return read_aliases(file, {row["title"] for row in build.read("inspect/documents")})


def connect_entities(build: _Build, aliases: Mapping[str, Sequence[str]]) -> None:
    """Link a corpus's passages and make its shared-entity edges; only what differs is written."""
    # A file of aliases of the same name may say something else each time.
    if not build.settings.aliases and build.is_current():
        return
    with build.making():
        with graph_build.timed(build.seconds, "read passages"):
            rows = build.read("connect/entity_passages", anew=build.anew)
        _write_mentions(build, rows, aliases)
        with graph_build.timed(build.seconds, "shared-entity edges"):
            # By id, so that the same passages make the same edges wherever they are stored.
            rows.sort(key=lambda row: row["id"])
            _write_edges(build, rows)


def _write_mentions(build: _Build, rows: Sequence[Row], names: Mapping[str, Sequence[str]]) -> None:
    """Link the passages and write their mentions; their texts leave the rows (`link_all`)."""
    titles = {row["document"]: row["title"] for row in rows}
    documents = {row["document"]: row["documentNode"] for row in rows}
    linked = link_all(EntityLinker(titles.items(), names, build.settings), rows)
    #: By the name of each entity that is stored: its node, and how it was first written.
    entities = {
        row["name"]: (row["node"], row["title"])
        for row in build.database.read_pages("connect/stored_entities", "name", corpus=build.corpus)
    }
    seen: set[str] = set()
    with bar("entities", len(rows), "passages") as progress:
        batches = ahead(in_batches(linked, _BATCH))
        for start in range(0, len(rows), _BATCH):
            with graph_build.timed(build.seconds, "link entities"):
                batch = next(batches)
            with graph_build.timed(build.seconds, "write mentions"):
                _write_entities(build, batch, entities, seen)
                _write_batch(build, batch, rows[start : start + _BATCH], documents, entities)
            progress.update(len(batch))
    with graph_build.timed(build.seconds, "write mentions"):
        build.database.write_in_batches("connect/remove_entities", corpus=build.corpus)


def _write_entities(
    build: _Build, batch: Sequence[Linked], entities: dict[str, tuple[str, str]], seen: set[str]
) -> None:
    """Write the entities that are new, or were first written otherwise than before."""
    new: dict[str, str] = {}
    for phrase in itertools.chain.from_iterable(linked.phrases for linked in batch):
        if phrase.key not in seen:
            seen.add(phrase.key)
            if entities.get(phrase.key, ("", ""))[1] != phrase.surface:
                new[phrase.key] = phrase.surface
    rows = [{"name": name, "title": title} for name, title in new.items()]
    for row in build.database.write("connect/entities", corpus=build.corpus, rows=rows):
        entities[row["name"]] = row["node"], new[row["name"]]


def _write_batch(
    build: _Build,
    batch: Sequence[Linked],
    rows: Sequence[Row],
    documents: Mapping[str, str],
    entities: Mapping[str, tuple[str, str]],
) -> None:
    """Write the mentions of those passages, with their rows, of which they differ."""
    counts = [len(linked.phrases) + len(linked.documents) for linked in batch]
    found = [(row["linkedBy"], row["mentions"]) for row in rows]
    complete = [have == (_LINKER, count) for have, count in zip(found, counts, strict=True)]
    changes = []
    for at, marks in mention_marks(batch, [row["mentionMarks"] for row in rows], complete).items():
        mentions = []
        for key, surface, start, end in batch[at].phrases:
            offsets = [] if start is None else [start, end]
            place = {"surface": surface, "start": start, "end": end, "offsets": offsets}
            mentions.append({"node": entities[key][0], **place})
        mentions += ({"node": documents[m.pop("document")], **m} for m in batch[at].documents)
        changes.append({"passage": rows[at]["id"], "marks": marks, "mentions": mentions})
    build.write_rows("connect/mentions", changes, _BATCH, linker=_LINKER)


def rarity(passages: int, frequency: int, single: bool = False) -> float:
    """Return how rare it is that so many mention it, 0 to 1; of a phrase of one word half of it."""
    rare = math.log(1 + passages / frequency) / math.log(1 + passages)
    return rare * 0.5 if single else rare


def _write_edges(build: _Build, rows: Sequence[Row]) -> None:
    """Write what changed of the edges to mentioned documents, and between those that share most."""
    place = {row["node"]: at for at, row in enumerate(rows)}
    shared, titles = _shared_pairs(build, [row["id"] for row in rows], place)
    numbers = array("d")
    for row in build.database.stream("connect/naming", corpus=build.corpus):
        rare = rarity(len(rows), row["frequency"])
        for node, score in row["naming"]:
            numbers.extend((place[node], place[row["other"]], len(titles), score * rare))
        titles.append(row["title"])
    columns = np.frombuffer(numbers).reshape(-1, 4).T
    first, second, named_by = columns[:3].astype(np.int32)
    items = np.full((first.size, graph_build.MOST_ITEMS), -1, np.int32)
    items[:, 0] = named_by
    named = graph_build.Pairs(first, second, np.ones_like(first), columns[3], items)
    graph_build.write_pairs(build, _EDGE, rows, named, shared, titles)


def _shared_pairs(
    build: _Build, ids: Sequence[str], place: Mapping[str, int]
) -> tuple[graph_build.Pairs, list[str]]:
    """Return the pairs of passages that share most, and the titles of what they share."""
    settings, titles = build.settings, list[str]()
    rare, sizes, members = array("d"), array("i"), array("i")
    with build.turn():
        for row in build.database.stream(
            "connect/mentioned", corpus=build.corpus, maxFrequency=settings.max_frequency
        ):
            titles.append(row["title"])
            rare.append(rarity(len(ids), len(row["passages"]), row["single"]))
            sizes.append(len(row["passages"]))
            members.extend(map(place.__getitem__, row["passages"]))
    order = sorted(range(len(titles)), key=lambda at: (-rare[at], titles[at]))
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    passage, item = np.frombuffer(members, np.int32), np.repeat(number, sizes)
    weight = np.repeat(rare, sizes)
    by_passage = np.lexsort((item, passage))
    passage, item, weight = passage[by_passage], item[by_passage], weight[by_passage]
    pairs = graph_build.strongest_pairs(
        passage, item, weight, np.ones_like(weight), ids, settings.neighbours
    )
    return pairs, [titles[at] for at in order]
