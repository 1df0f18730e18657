"""Makes the names of an entity: its title, the title without its qualifier, and aliases."""

import html
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import regex

from kgp_neo4j.environment.files import expanded
from kgp_neo4j.text.words import STOP_WORDS, cut, fold
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
