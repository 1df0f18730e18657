"""Documents that a question names: by title, by file name, or by a part that only one has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from kgp_neo4j.load.grid import normal
from kgp_neo4j.structure.outline import DocumentOutline

__all__ = ["Named", "named_documents"]

_TOKEN = re.compile(r"[^\W_]+")
_NOUN = re.compile(
    r"\s*(?:document|file|pdf|report|paper|article|transcript|workbook|spreadsheet|csv)s?\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:in|of|from|document|file|pdf|does|do|has|is|within)\s+(?:the\s+)?$", re.IGNORECASE
)
#: Words that are in titles and in questions about structure alike.
_GENERIC = frozenset(
    "page pages table tables document file report paper section row column text data list index "
    "notes summary first last second third the of and in on for a an to with no pdf number".split()
)
_LONGEST = 25


@dataclass(frozen=True, slots=True)
class Named:
    """A name at `text[start:end]`; several documents where they share it. `whole` if it is all."""

    documents: tuple[DocumentOutline, ...]
    start: int
    end: int
    whole: bool


def named_documents(text: str, documents: Sequence[DocumentOutline]) -> list[Named]:
    """Return the documents that a text names, in the order of the text; longer names go first."""
    tokens = [(m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    names: dict[tuple[str, ...], list[DocumentOutline]] = {}
    for document in documents:
        for name in _names(document):
            names.setdefault(name, []).append(document)
    taken: list[Named] = []
    used: set[int] = set()
    for size in range(min(len(tokens), _LONGEST), 0, -1):
        for at in range(len(tokens) - size + 1):
            if used & set(range(at, at + size)):
                continue
            run = tuple(token for token, _, _ in tokens[at : at + size])
            start, end = tokens[at][1], tokens[at + size - 1][2]
            found = names.get(run)
            if found and _stands_alone(text, run, start, end):
                used |= set(range(at, at + size))
                taken.append(Named(_distinct(found), start, end, True))
    taken += _partly(text, [t for at, t in enumerate(tokens) if at not in used], documents)
    return sorted(taken, key=lambda named: named.start)


def _names(document: DocumentOutline) -> set[tuple[str, ...]]:
    file = document.file
    made = (document.title, file, PurePath(file).stem)
    return {tuple(normal(name).split()) for name in made} - {()}


def _stands_alone(text: str, run: tuple[str, ...], start: int, end: int) -> bool:
    """Whether a short or plain name is meant as one."""
    if len(run) > 1 and not set(run) <= _GENERIC:
        return True
    if set(run) <= _GENERIC or run[0].isdigit():
        return False
    written = text[start:end]
    return (
        written != written.casefold()
        or len(written) > 12
        or bool(_NOUN.match(text, end))
        or bool(_BEFORE.search(text, 0, start))
        or (start == 0 and end == len(text))
    )


def _partly(
    text: str, tokens: list[tuple[str, int, int]], documents: Sequence[DocumentOutline]
) -> list[Named]:
    """Return the longest part of a name that is in the text, where one document alone has it."""
    if len(documents) > 2_000:
        return []
    padded = [(d, [f" {' '.join(name)} " for name in _names(d)]) for d in documents]
    for size in range(min(len(tokens), _LONGEST), 0, -1):
        for at in range(len(tokens) - size + 1):
            run = [token for token, _, _ in tokens[at : at + size]]
            start, end = tokens[at][1], tokens[at + size - 1][2]
            if len(_TOKEN.findall(text, start, end)) != size:
                continue  # a whole name stands between
            telling = [token for token in run if token not in _GENERIC and not token.isdigit()]
            if not telling or run[0] in ("the", "of", "in") or run[-1] in ("the", "of", "in"):
                continue
            code = len(run[0]) > 4 and any(c.isdigit() for c in run[0])  # "word365"
            if size == 1 and not code and not (len(run[0]) > 3 and _NOUN.match(text, end)):
                continue
            if size > 1 and len(telling) < 2 and run[-1] not in ("report", "document", "paper"):
                continue
            key = f" {' '.join(run)} "
            found = [d for d, names in padded if any(key in name for name in names)]
            if len(found) == 1:
                return [Named((found[0],), start, end, False)]
    return []


def _distinct(documents: list[DocumentOutline]) -> tuple[DocumentOutline, ...]:
    return tuple({document.id: document for document in documents}.values())
