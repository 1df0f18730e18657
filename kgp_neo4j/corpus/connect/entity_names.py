"""The names of an entity: its title, parts of it and aliases, and how a text writes them."""

import html
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import regex

from kgp_neo4j.environment.files import expanded
from kgp_neo4j.text.words import STOP_WORDS, Words, cut, fold
from kgp_neo4j.types.errors import InputError

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
