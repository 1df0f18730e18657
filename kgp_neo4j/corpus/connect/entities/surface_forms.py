"""Makes the names of an entity: its title, the title without its qualifier, and aliases."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import regex

from kgp_neo4j.text.words import Words, fold
from kgp_neo4j.text.words import cut as cut_anew
from kgp_neo4j.types.errors import InputError

__all__ = [
    "LONGEST",
    "Name",
    "is_person_like",
    "is_stop_word",
    "lead_names",
    "names_of",
    "qualifier_words",
    "read_aliases",
]

#: Most words of a name; longer titles are sentences, which no text repeats.
LONGEST = 12
_PARENTHESIS = regex.compile(r"\s*[(（]([^()（）]*)[)）]\s*$")
_COMMA = regex.compile(r"^([^,，]+)(?:,\s|，)\s*(\p{Lu}[^\s,]*(?:\s[^\s,]+)?)$")
_REGNAL = regex.compile(r"^(\p{Lu}\p{L}+ [IVX]+),? of\b")
#: Suffixes of clubs, companies and people that texts leave out.
_SUFFIX = regex.compile(
    r",?\s+(?:[AS]?\.?F\.?C\.?|C\.?F\.?|Inc\.?|Ltd\.?|LLC|plc|PLC|B\.?V\.?|GmbH|AG|Jr\.?|Sr\.?)$"
)
_FUNCTION_WORDS = """
a about after all also although am an and any are as at be because been before being both but by
can could de del der di do does down du during each either el en et few following for from
further had has have he her here hers him his how however i if in into is it its just la las
later le les like los many may me might more most much my neither new no nor not now of off on
once one only or other our out over own part same several she since so some such than that the
their theirs them then there these they this those though three through thus to today together
too two und under until up upon us use used using van very von was we were what when where
whereas which while who whom whose why will with within without would yet you your
"""
_SMALL = frozenset(_FUNCTION_WORDS.split())

Name = tuple[tuple[str, ...], tuple[str, ...], float]
"""The words of a name in lower case and as written, and its weight: 1 for the whole title."""


@lru_cache(maxsize=64)
def cut(name: str) -> Words:
    """Return the words of a title, which is cut for each of its names."""
    return cut_anew(name)


def is_stop_word(key: str) -> bool:
    """Return whether a word is a function word ("the", "it", "who")."""
    return key in _SMALL


def is_person_like(raw: list[str] | tuple[str, ...]) -> bool:
    """Return whether the words of a title may be a person's first and last name."""
    return 2 <= len(raw) <= 4 and all(
        w[:1].isupper() and w.isalpha() and not is_stop_word(w.lower()) for w in raw
    )


def names_of(title: str, aliases: Iterable[str] = ()) -> Iterator[Name]:
    """Yield each name of an entity once, with the highest weight first.

    "Paris, Texas" is also named Paris, and "Ed Wood (film)" Ed Wood, with a lower weight; an alias
    given by the user has nearly the weight of a title.
    """
    title = html.unescape(title)
    bare = _PARENTHESIS.sub("", title).strip()
    given = [(title, 1.0), *((alias, 0.9) for alias in aliases), (bare, 0.5)]
    for pattern in (_COMMA, _REGNAL):
        parted = pattern.match(bare)
        if parted:
            given.append((parted[1], 0.3))
    short = _SUFFIX.sub("", bare)
    if short != bare:
        given.append((short, 0.4))
    yield from _names(given)


def _names(given: Iterable[tuple[str, float]]) -> Iterator[Name]:
    seen: set[tuple[str, ...]] = set()
    for text, weight in given:
        for form in _spellings(text):
            parts = cut(form)
            keys = tuple(parts.keys)
            if keys and keys not in seen and len(keys) <= LONGEST and _worth_naming(keys):
                seen.add(keys)
                yield keys, tuple(parts.raw), weight


def _spellings(text: str) -> Iterator[str]:
    yield text
    if "&" in text:
        yield text.replace("&", " and ")
    elif " and " in text:
        yield text.replace(" and ", " ")  # as "&" is no word
    raw = cut(text).raw
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


def _worth_naming(keys: tuple[str, ...]) -> bool:
    return len(keys) > 1 or len(keys[0]) > 1 or not keys[0].isascii()


def qualifier_words(title: str) -> frozenset[str]:
    """Return the words that distinguish a title from similar ones: "film" of "Ed Wood (film)"."""
    qualifier = _PARENTHESIS.search(title)
    text = qualifier[1] if qualifier else ""
    if not text:
        parted = _COMMA.match(title)
        text = parted[2] if parted else ""
    return frozenset(fold(w) for w in cut(text).raw if not is_stop_word(fold(w)))


# --- Names in the first sentence of a document ---

_LEAD = 600
_CAPITAL = r"\p{Lu}[\p{L}\p{N}\p{M}.'’&-]*"
_LATER = r"[\p{Lu}\p{N}][\p{L}\p{N}\p{M}.'’&-]*"
_NAME = rf"{_CAPITAL}(?:\s(?:(?:of|the|and|de|la|van|von|for|in|&)\s)*{_LATER}){{0,6}}"
_OPENING = regex.compile(rf"^(?:The |A |An )?({_NAME})(?=,? \(| (?:is|was|are|were)\b)")
_KNOWN_AS = regex.compile(
    r"\b(?:known|referred to|credited|abbreviated|nicknamed|called|billed|styled|shortened)"
    r"(?: (?:simply|also|professionally|mononymously|commonly|officially|collectively|by))*"
    rf"(?: as| to)?:? (?:the |simply )?(?:[\"“]([^\"”]{{2,60}})[\"”]|({_NAME}))"
)
_NOUN_FOLLOWS = regex.compile(r" (?!(?:and|or|is|was|are|in|by|for|as|who|which)\b)\p{Ll}")
_NICKNAME = regex.compile(rf"^({_CAPITAL})(?:\s{_CAPITAL})*? [\"“(]({_CAPITAL})[\"”)] ({_NAME})")
_INITIALS = regex.compile(r"\((?:[^()]*[,;] )?(\p{Lu}[\p{Lu}&.]{1,6})\)")


def lead_names(title: str, text: str) -> Iterator[Name]:
    """Yield further names from the first sentences of an entity's own document.

    "Felton Jeffrey "Jeff" Capel III", "commonly known as Sydney 2000", "(IRA)" behind the words
    whose initials these are.
    """
    lead = text[:_LEAD]
    sentence = regex.split(r"(?<=\p{Ll}{2})\.\s", lead, maxsplit=1)[0]
    given: list[tuple[str, float]] = []
    opening = _OPENING.match(sentence)
    # The opening has to have the title's last word: "Kelp" of "Mary Kelp".
    last = cut(_PARENTHESIS.sub("", html.unescape(title))).keys[-1:]
    if opening and " " in opening[1] and last and last[0] in cut(opening[1]).keys:
        given.append((opening[1], 0.5))
    nickname = _NICKNAME.match(sentence)
    if nickname:
        given += [(f"{nickname[2]} {nickname[3]}", 0.5), (f"{nickname[1]} {nickname[3]}", 0.4)]
    for match in _KNOWN_AS.finditer(sentence):
        # A word alone, or before others in lower case, is seldom the whole name ("called German
        # idealism").
        if match[1] and match[1][0].isupper():
            given.append((match[1], 0.4))
        elif match[2] and " " in match[2] and not _NOUN_FOLLOWS.match(sentence, match.end()):
            given.append((match[2], 0.4))
    initials = "".join(k[0] for k in cut(opening[1] if opening else title).keys if k)
    for match in _INITIALS.finditer(sentence):
        letters = "".join(k for k in match[1].lower() if k.isalpha())
        if letters and letters in (initials, "".join(k[0] for k in cut(title).keys)):
            given.append((match[1], 0.4))
    yield from _names(
        (text, weight)
        for text, weight in given
        if len(text) > 2 and not is_stop_word(text.lower()) and not text.isdigit()
    )


# --- The file of aliases ---


def read_aliases(path: str | Path, titles: Collection[str]) -> dict[str, list[str]]:
    """Return the aliases of each title in a file of lines `alias<TAB>title`.

    Empty lines and titles that are not in `titles` are ignored. Raises InputError for a file that
    cannot be read, for a line of another form, and where none of the titles is known.
    """
    hint = "Each line is an alias, a tab, and the title of a document, in UTF-8."
    try:
        lines = Path(path).expanduser().read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"it cannot be read ({error})", where=str(path), hint=hint) from error
    known = set(titles)
    aliases: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        parts = [part.strip() for part in line.split("\t")]
        if not any(parts):
            continue
        if len(parts) != 2 or not all(parts):
            where = f"{path}:{number}"
            raise InputError("this line names no alias and title", where=where, hint=hint)
        if parts[1] in known:
            aliases[parts[1]].append(parts[0])
    if not aliases:
        raise InputError(
            "none of its titles is a document of the corpus", where=str(path), hint=hint
        )
    return dict(aliases)
