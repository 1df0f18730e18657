"""Checks each claim of a reply: whether what it cites is there, and carries it.

What is not carried keeps its place in the answer, with a mark that nobody can miss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from kgp_neo4j.answer.prompting.reply import Claim
from kgp_neo4j.answer.prompting.support import Evidence, Support, denies
from kgp_neo4j.readings import Statement

__all__ = ["MARK", "check", "marked"]

#: What stands behind a claim that the evidence does not carry.
MARK = "[not in the evidence]"
#: Passages that are tried where those that a claim cites do not carry it.
_TRIED = 4
_ENDS = (".", "!", "?", "…", "。", "！", "？", ")", "”", '"', "'")
_YES_OR_NO = frozenset(("yes", "no", "true", "false", "是", "否", "不是", "对"))


def check(claims: Sequence[Claim], evidence: Evidence) -> tuple[Statement, ...]:
    """Return the claims as statements, in their order; citations count the passages from 1.

    A sentence is carried by the passages that it cites, else by others that were shown: then those
    are cited instead, and the note says so. A short answer is carried where its words stand in a
    passage that it, or a sentence of its reasons, rests on; yes and no by their reasons alone.
    """
    evidence.embed([claim.text for claim in claims if not claim.short])
    reasons = [_sentence(claim, evidence) for claim in claims if not claim.short]
    rest = iter(reasons)
    return tuple(
        _short(claim, reasons, evidence) if claim.short else next(rest) for claim in claims
    )


def marked(statements: Iterable[Statement], numbers: dict[str, int]) -> str:
    """Return an answer's text: each statement with its citations, or with the mark.

    `numbers` gives the number of each passage by its id. A short answer has a line of its own
    where reasons follow it.
    """
    made = ""
    for statement in statements:
        cited = sorted(numbers[p] for p in statement.passages if p in numbers)
        carried = statement.carried and cited
        made += f"{statement.text} {''.join(f'[{n}]' for n in cited) if carried else MARK}"
        made += " " if statement.text.endswith(_ENDS) else "\n"
    return made.strip()


def _sentence(claim: Claim, evidence: Evidence) -> Statement:
    cited, missing = _places(claim, evidence)
    foreign = f"there is no passage {_numbers(missing)}" if missing else ""
    own = evidence.support(claim.text, cited) if cited else Support(0.0, "it cites nothing")
    if cited and own.carried:
        return _made(claim, cited, own, foreign, evidence)
    for places in _others(claim, cited, evidence):
        found = evidence.support(claim.text, places)
        if found.carried:
            return _made(claim, places, found, _moved(cited, places, foreign), evidence)
    if cited:
        said = f"{_numbers(n + 1 for n in cited)} {'do' if len(cited) > 1 else 'does'} not carry it"
        note = f"{said}: {own.against}"
    else:
        note = "no passage carries it" if missing else "it cites nothing, and no passage carries it"
    return Statement(
        claim.text,
        _ids(cited, evidence),
        False,
        own.score,
        "; ".join(filter(None, (foreign, note))),
    )


def _others(claim: Claim, cited: Sequence[int], evidence: Evidence) -> Iterator[tuple[int, ...]]:
    """Yield passages that may carry a claim instead: with those cited, alone, and in pairs."""
    near = [at for at in evidence.sharing(claim.text, _TRIED) if at not in cited]
    if cited:
        yield from ((*cited, at) for at in near)
    yield from ((at,) for at in near)
    yield from combinations(near, 2)


def _moved(cited: Sequence[int], places: Sequence[int], foreign: str) -> str:
    new = _numbers(at + 1 for at in places if at not in cited)
    if not cited:
        return "; ".join(filter(None, (foreign, f"cited nothing that is there; it is in {new}")))
    old = _numbers(at + 1 for at in cited)
    if set(cited) <= set(places):
        said = f"cited {old} alone; {new} is needed too"
    else:
        said = f"cited {old}, which does not carry it; {new} does"
    return "; ".join(filter(None, (foreign, said)))


def _short(claim: Claim, reasons: Sequence[Statement], evidence: Evidence) -> Statement:
    cited, missing = _places(claim, evidence)
    foreign = f"there is no passage {_numbers(missing)}" if missing else ""
    ids = _ids(cited, evidence)
    carrying = [reason for reason in reasons if reason.carried]
    behind = tuple(dict.fromkeys(p for reason in carrying for p in reason.passages))

    said = claim.text.casefold().strip(" .!")
    if denies(said) and said not in _YES_OR_NO:
        return _sentence(claim, evidence)

    def no(note: str) -> Statement:
        return Statement(claim.text, ids, False, 0.0, "; ".join(filter(None, (foreign, note))))

    if reasons and not carrying:
        return no("none of its reasons is carried")
    if said in _YES_OR_NO:
        if not carrying or len(carrying) < len(reasons):
            return no("yes and no are carried by their reasons, and not all of these are")
        score = min(reason.support for reason in carrying)
        return Statement(claim.text, behind, True, score, foreign)
    places = {passage.id: at for at, passage in enumerate(evidence.passages)}
    held = [at for at in cited if evidence.holds(claim.text, at)]
    if held:
        return _made(claim, held, Support(1.0), foreign, evidence)
    # The passages of its reasons, else any: where its words stand near what is asked.
    held = [places[p] for p in behind if evidence.holds(claim.text, places[p])]
    if not held and not reasons:
        near = evidence.sharing(f"{evidence.question} {claim.text}", _TRIED)
        held = [at for at in near if evidence.holds(claim.text, at)][:1]
    if held:
        return _made(claim, held, Support(1.0), _moved(cited, held, foreign), evidence)
    return no("its words stand in no passage that it rests on")


def _places(claim: Claim, evidence: Evidence) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the places of the passages that a claim cites, and the numbers that there are none."""
    there = [n for n in claim.cited if 1 <= n <= len(evidence.passages)]
    return tuple(n - 1 for n in there), tuple(n for n in claim.cited if n not in there)


def _made(
    claim: Claim, places: Sequence[int], found: Support, note: str, evidence: Evidence
) -> Statement:
    return Statement(claim.text, _ids(places, evidence), True, found.score, note)


def _ids(places: Iterable[int], evidence: Evidence) -> tuple[str, ...]:
    return tuple(evidence.passages[at].id for at in places)


def _numbers(numbers: Iterable[int]) -> str:
    said = [f"[{number}]" for number in numbers]
    return ", ".join(said[:5]) + (" and others" if len(said) > 5 else "")
