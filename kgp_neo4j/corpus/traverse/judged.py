"""Algorithm 1 with an agent that judges: each hop's passages are scored by all their signals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from kgp_neo4j.corpus.traverse.path_edges import with_edges
from kgp_neo4j.corpus.traverse.signals import (
    NAMED_BY,
    NAMES,
    Candidates,
    QuestionSignals,
    candidates,
    question_signals,
)
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.corpus import ReasoningPath, Step
from kgp_neo4j.types.settings import TraversalSettings

if TYPE_CHECKING:
    from kgp_neo4j.corpus.traverse.agents.learned import LearnedAgent

__all__ = ["candidates_of", "judged_traverse", "likelihood", "search", "seeds_of"]

#: So many passages of the search are judged at each hop beside the neighbours.
_OTHERS = 40
#: So many passages whose titles the question names are seeds whatever the search says of them.
_NAMED = 8
_FRONTIER = 12
#: So many of the best passages are told what spoke for them.
_REASONED = 10
# On the scale of the other agents, so that an answer can weigh the steps of all of them alike.
_LEXICAL_SHARE = 0.3


def judged_traverse(
    database: Database, corpus: str, question: str, agent: LearnedAgent, settings: TraversalSettings
) -> list[ReasoningPath]:
    """Return one reasoning path to each retrieved passage, the best passage first.

    Each hop starts from the best passages of the hop before (from the seeds at first), judges them
    anew together with their neighbours, and its order replaces the one before; so a passage that
    only a later hop can explain still comes first. The budget counts distinct passages. A hop is
    one call of the database, and no text is fetched.
    """
    asked = search(database, corpus, question, lambda: agent.begin(question).vector or ())
    frontier = seeds_of(asked, settings.seeds)
    paths = {p: ReasoningPath((_step(asked, p),)) for p in asked.order}
    ranked = list(asked.order)
    before: Mapping[str, float] | None = None
    for hop in range(settings.hops):
        if not frontier:
            break
        found = candidates_of(database, corpus, asked, frontier, settings, before)
        scores = agent.judge(found, hop).tolist()
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], found.ids[at]))
        # The last hop's judgement is the one that holds; the others only say where to go on.
        last = hop == settings.hops - 1
        best = order[: settings.budget if last else settings.seeds]
        reasons = agent.reasons(found, best[:_REASONED], hop) if last else []
        reasons += [""] * (len(best) - len(reasons))
        judged: dict[str, ReasoningPath] = {}
        for at, signals in zip(best, reasons, strict=True):
            step = _step(asked, found.ids[at], float(found.cosine[at]), scores[at], signals)
            judged[step.passage] = _path(step, found.origin[at], frontier, judged, paths, settings)
        paths |= judged
        ranked = [found.ids[at] for at in order]
        before = dict(zip(found.ids, scores, strict=True))
        frontier = ranked[: settings.seeds]
    # What the graph leaves of the budget is filled with further results of the search.
    ranked = list(dict.fromkeys((*ranked[: settings.budget], *asked.order)))
    return with_edges(database, [paths[p] for p in ranked[: settings.budget]], settings)


def search(
    database: Database, corpus: str, question: str, encode: Callable[[], Sequence[float]]
) -> QuestionSignals:
    """Return what speaks for passages before anything was visited.

    The words are searched for while `encode` makes the question's vector, and while that is
    searched for: two calls of the database at the same time.
    """

    def found(question: str, vector: Sequence[float]) -> list[Row]:
        return database.read_packed(
            "traverse/question_signals", question=question, vector=list(vector), corpus=corpus
        )

    with ThreadPoolExecutor(1) as beside:
        by_words = beside.submit(found, question, ())
        vector = encode()
        by_meaning = found("", vector) if vector else []
        return question_signals(question, vector, [*by_words.result(), *by_meaning])


def seeds_of(asked: QuestionSignals, seeds: int) -> list[str]:
    """Return the seeds: the best of the search, and passages whose titles the question names."""
    named = sorted(asked.named, key=lambda p: (-asked.named[p], p))[:_NAMED]
    return list(dict.fromkeys((*asked.order[:seeds], *named)))[: max(_FRONTIER, seeds)]


def candidates_of(
    database: Database,
    corpus: str,
    asked: QuestionSignals,
    frontier: Sequence[str],
    settings: TraversalSettings,
    before: Mapping[str, float] | None,
) -> Candidates:
    """Return the candidates of one hop with their features: one call of the database."""
    rows = database.read_packed(
        "traverse/candidate_signals",
        frontier=list(frontier),
        others=list(asked.order[:_OTHERS]),
        corpus=corpus,
        vector=asked.vector,
        words=asked.words,
        phrases=asked.phrases,
        named=list(asked.named),
        hits=dict(asked.lexical),
        edges=list(settings.edges),
    )
    return candidates(asked, frontier, rows, before)


def _step(
    asked: QuestionSignals,
    passage: str,
    cosine: float = 0.0,
    score: float | None = None,
    signals: str = "",
) -> Step:
    """Return the step to a passage as a seed; without a score it is what the search left over."""
    return Step(
        passage,
        "seed",
        match=cosine + _LEXICAL_SHARE * asked.lexical.get(passage, 0.0),
        reason=" + ".join(
            name
            for name, found in (
                ("words", asked.lexical_rank),
                ("meaning", asked.cosine_rank),
                ("title", asked.named),
            )
            if passage in found
        ),
        judged=0.0 if score is None else likelihood(score),
        signals=signals,
    )


def _path(
    step: Step,
    origin: tuple[int, int],
    frontier: Sequence[str],
    judged: Mapping[str, ReasoningPath],
    paths: Mapping[str, ReasoningPath],
    settings: TraversalSettings,
) -> ReasoningPath:
    """Return the path to a passage: from one that is judged better where it is linked with one.

    Otherwise its path of the hop before, or itself as a seed. A passage found over a link alone
    keeps that link.
    """
    place, kind = origin
    parent = frontier[place] if place >= 0 else None
    known = paths.get(step.passage)
    before = judged.get(parent) if parent else None
    if before is None and known is None and parent:
        before = paths.get(parent)
    if before and all(s.passage != step.passage for s in before.steps):
        share = {NAMES: settings.outward, NAMED_BY: settings.inward}.get(kind, 0.0)
        inherited = share * max(before.steps[-1].match, 0.0)
        return before.then(replace(step, edge="", inherited=inherited))
    if known and len(known.steps) > 1:
        last = known.steps[-1]
        again = replace(step, edge=last.edge, inherited=last.inherited, reason=last.reason)
        return ReasoningPath((*known.steps[:-1], again))
    return ReasoningPath((step,))


def likelihood(score: float) -> float:
    """Return a score as a number from 0 to 1, in the same order."""
    return 1.0 / (1.0 + math.exp(-max(min(score, 30.0), -30.0)))
