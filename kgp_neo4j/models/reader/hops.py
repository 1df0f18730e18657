"""Follows a question from a thing it names to the person it means: "the director of film A".

The step that MuSiQue's and 2WikiMultihopQA's decompositions write down (Trivedi et al. 2022), taken
where the passages say it in so many words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from kgp_neo4j.records import Passage

__all__ = ["ROLE", "Hop", "Mention", "bare", "follow", "hop_of", "mentions", "plain"]

#: Who stands between a thing and what is asked, with the words that name them in its passage.
_ROLES = {
    "director": r"directed(?:\s+and\s+\w+|\s*,\s*\w+)*(?:\s+and\s+\w+)?\s+by|director",
    "composer": r"(?:compos|scor|music|soundtrack|song|single)\w*(?:\s+\w+){0,5}?\s+by|compos\w+",
    "performer": r"(?:perform|record|sung|releas|song|single|album|track)\w*(?:\s+\w+){0,4}?\s+by",
    "singer": r"(?:perform|record|sung|song|single|album)\w*(?:\s+\w+){0,4}?\s+by|singer",
    "author": r"(?:written|author|novel|book|story|play)\w*(?:\s+\w+){0,3}?\s+by|author",
    "writer": r"(?:written|screenplay)(?:\s+\w+){0,3}?\s+by|writer",
    "producer": r"produced(?:\s+and\s+\w+)?\s+by|producer",
    "founder": r"(?:found|establish|start)\w*(?:\s+\w+){0,3}?\s+by|founder",
    "creator": r"created\s+by|creator",
    "designer": r"design\w*(?:\s+and\s+\w+)?\s+by|designer",
    "architect": r"(?:design|built|architect)\w*(?:\s+and\s+\w+)?\s+by|architect",
    "inventor": r"invented\s+by|inventor",
    "wife": r"married|wife|wed|spouse|husband of|widow",
    "husband": r"married|husband|wed|spouse|wife of|widower",
    "spouse": r"married|husband|wife|wed|spouse",
    "father": r"(?:son|daughter|child|children|born)\s+(?:\w+\s+){0,3}?(?:of|to)|father",
    "mother": r"(?:son|daughter|child|children|born)\s+(?:\w+\s+){0,3}?(?:of|to)|mother",
    "son": r"father\s+of|son|children",
    "daughter": r"(?:father|mother)\s+of|daughter|children",
    "brother": r"brother|sibling",
    "sister": r"sister|sibling",
}
ROLE = re.compile(rf"\b({'|'.join(_ROLES)})s?\b", re.IGNORECASE)
_BEFORE = re.compile(
    rf"(?:\bthe\s+)?\b({'|'.join(_ROLES)})\s+of\s+(?:the\s+)?(?:(?!of\b)[a-z-]+\s+){{0,3}}[\"“]?$",
    re.IGNORECASE,
)
_AFTER = re.compile(rf"[\"”]?\s*['’]?\s*s?\s+({'|'.join(_ROLES)})\b", re.IGNORECASE)
_REACH = 90
_STEPS = 3
_GRAND = re.compile(
    r"(?<=\b[iwa]s\s)(?:the\s+)?(?:([^?]*?)['’]s?\s+)?\b(paternal|maternal)\s+grand(father|mother)"
    r"(?:\s+of\s+([^?]*?))?(?=\s*\?|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a question names the thing of a passage, as the question writes it."""

    text: str
    start: int
    end: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class Hop:
    """A question as it reads once its first step is taken, and the passage of who it is about."""

    question: str
    passage: Passage
    before: Passage


def plain(text: str) -> str:
    """Return a text in lower case and without accents, character by character."""
    return "".join(unicodedata.normalize("NFD", c)[0].lower()[:1] or c for c in text)


def bare(title: str) -> str:
    """Return a title without what only tells it from another of its name."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", title).strip()


def mentions(question: str, passages: Sequence[Passage]) -> list[Mention]:
    """Return which passages' titles a question names, in its order; no two at one place."""
    low = plain(question)
    if len(low) != len(question):
        return []
    found: list[Mention] = []
    for passage in passages:
        for form in {plain(passage.title), plain(bare(passage.title))}:
            for hit in re.finditer(rf"(?<!\w){re.escape(form)}(?!\w)", low) if form else ():
                found.append(Mention(question[hit.start() : hit.end()], *hit.span(), passage))
    # The longest name at a place; of passages with the same name the better one.
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda m: m.start - m.end):
        if not any(mention.start < other.end and other.start < mention.end for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)


def follow(role: str, before: Passage, passages: Sequence[Passage]) -> Passage | None:
    """Return the passage of who has a role for the thing of a passage, None where none says so.

    It is the one whose title stands nearest after the words that name the role there.
    """
    text = plain(before.text)
    named = list(re.finditer(rf"\b(?:{_ROLES[role.lower()]})\b", text, re.IGNORECASE))
    best: tuple[int, Passage] | None = None
    for passage in passages:
        form = plain(bare(passage.title))
        if passage.id == before.id or not form or form == plain(bare(before.title)):
            continue
        for hit in re.finditer(rf"(?<!\w){re.escape(form)}(?!\w)", text):
            gaps = [hit.start() - n.end() for n in named if 0 <= hit.start() - n.end() <= _REACH]
            if gaps and (best is None or min(gaps) < best[0]):
                best = (min(gaps), passage)
    if best or not named:
        return best[1] if best else None
    # The person's passage may have a longer name: its first words hold that of the thing's.
    after = before.text[named[0].end() :]
    said = re.match(r"\s*(?:\w+\s+)?((?:[A-Z][\w.'’-]*\s?){2,4})", after)
    wanted = plain(said[1]).split() if said else []
    for passage in passages if wanted else ():
        begins = plain(passage.text[:90])
        if passage.id != before.id and all(re.search(rf"\b{re.escape(w)}", begins) for w in wanted):
            return passage
    return None


def hop_of(question: str, passages: Sequence[Passage]) -> Hop | None:
    """Return a question as it reads after the steps that the passages tell, None without any.

    "When did the director of film A die?" becomes "When did B die?" with B's passage, and "Who is
    A's paternal grandfather?" "Who is the father of B?" or, where that is told too, "Who is C?".
    """
    question = _GRAND.sub(_spelled, question)
    reached = None
    for _ in range(_STEPS):
        step = _step(question, passages)
        if step is None or (reached and step.passage.id == reached.before.id):
            break
        reached, question = step, step.question
    return reached


def _spelled(found: re.Match[str]) -> str:
    sides = {"paternal": "father", "maternal": "mother"}
    return f"{found[3].lower()} of the {sides[found[2].lower()]} of {found[1] or found[4]}"


def _step(question: str, passages: Sequence[Passage]) -> Hop | None:
    for mention in mentions(question, passages):
        start = mention.start
        if (found := _BEFORE.search(question[: mention.start])) is not None:
            start, end = found.start(), mention.end
            end += question[end : end + 1] in ('"', "”")
        elif (found := _AFTER.match(question, mention.end)) is not None:
            end = found.end()
        else:
            continue
        reached = follow(found[1], mention.passage, passages)
        if reached is not None and plain(bare(reached.title)) not in plain(question):
            name = bare(reached.title)
            return Hop(f"{question[:start]}{name}{question[end:]}", reached, mention.passage)
    return None
