"""The learned agent, the default: scores the passages of each hop by signals of the graph."""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.traverse.agents.search import KnnAgent
from kgp_neo4j.corpus.traverse.algorithm import tell_hop, with_edges
from kgp_neo4j.corpus.traverse.signals import NAMED_BY, NAMES, Candidates, QuestionSignals
from kgp_neo4j.environment.job import in_context
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder, nearness
from kgp_neo4j.models.engine import load_scorer
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.corpus import Passage, ReasoningPath, Step
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.settings import TraversalSettings

#: Results of the search that are scored at each hop together with the neighbours.
_SEARCHED = 40
#: Most passages that are seeds because the question names their titles.
_NAMED_SEEDS = 8
_MOST_FRONTIER = 12
#: Passages that a hop judges, at least, and for each of the budget or of the seeds.
_JUDGED, _JUDGED_EACH = 150, 5
#: Log odds that a cosine counts for where nothing is likely.
_MEANING = 20.0
#: Passages whose sentences are compared, unless one is as likely as this, and characters of these.
_READ, _SURE, _SHORTEST = 20, 0.9, 8
#: Gives scores the scale of the other agents, so that steps of all agents can be compared.
_LEXICAL_SHARE = 0.3


class LearnedAgent(KnnAgent):
    """Scores the passages of each hop by all signals at once, with boosted trees.

    It is trained on supporting facts (`kgp-neo4j train scorer`; see its model card). Raises
    ModelError where the folder `model` has no scorer.
    """

    name = "learned"
    _encoder: Encoder

    def __init__(self, encoder: Encoder, model: str | None = None) -> None:
        super().__init__(encoder)
        self._first, self._later = load_scorer(model)

    def walk(
        self, database: Database, corpus: str, question: str, settings: TraversalSettings
    ) -> list[ReasoningPath]:
        """Return one reasoning path to each retrieved passage, the best passage first.

        Each hop starts from the best passages of the previous one (the first from the seeds),
        scores them again together with their neighbours, and replaces the ranking; so a passage
        that only a later hop can explain may still rank first. A hop is one call of the database.
        Raises ConfigurationError for the paper's algorithm.
        """
        if settings.algorithm == "paper":
            what = "the agent learned does not walk by the paper's algorithm"
            hint = "Choose another agent, or leave --algorithm out."
            raise ConfigurationError(what, hint=hint)
        signals = search(database, corpus, question, lambda: self.begin(question).vector or ())
        frontier = seeds_of(signals, settings.seeds)
        paths = {p: ReasoningPath((_seed(signals, p),)) for p in signals.order}
        ranked = list(signals.order)
        before: Mapping[str, float] | None = None
        tell_hop(0, [paths[p] for p in frontier])
        for hop in range(settings.hops):
            if not frontier:
                break
            found = candidates_of(database, corpus, signals, frontier, settings, before)
            judgement = (self._later if hop else self._first).scores(found.features)
            # The last hop's scores are final; those before only choose the next frontier.
            most = settings.seeds
            if hop == settings.hops - 1:
                judgement, most = _by_meaning_too(judgement, found.cosine), settings.budget
            scores = judgement.tolist()
            order = sorted(range(len(scores)), key=lambda at: (-scores[at], found.ids[at]))
            judged: dict[str, ReasoningPath] = {}
            for at in order[:most]:
                passage, cosine = found.ids[at], float(found.cosine[at])
                step = _seed(signals, passage, cosine, _likely(scores[at]))
                judged[passage] = _path(step, found.origin[at], frontier, judged, paths, settings)
            tell_hop(hop + 1, judged.values())
            paths |= judged
            ranked = [found.ids[at] for at in order]
            before = dict(zip(found.ids, scores, strict=True))
            frontier = ranked[: settings.seeds]
        # Further results of the search fill the rest of the budget.
        ranked = list(dict.fromkeys((*ranked[: settings.budget], *signals.order)))
        chosen = [paths[passage] for passage in ranked[: settings.budget]]
        return with_edges(database, chosen, settings.edges)

    def rank_by_sentences(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[ReasoningPath]:
        """Return paths with the first ones in the order of log odds and of their nearest sentences.

        A passage's one vector hardly tells what a single sentence says in other words than the
        question's. That counts the more, the less sure the agent is, and not where it is sure. The
        best score stays as it was: it tells whether there is an answer at all.
        """
        first = paths[:_READ]
        likely = np.clip([path.steps[-1].score for path in first], 1e-6, 1 - 1e-6)
        if likely.max(initial=0.0) >= _SURE:
            return list(paths)
        told = [(at, passages[path.last]) for at, path in enumerate(first)]
        held = [(at, p, a, b) for at, p in told for a, b in sentences(p.text) if b - a > _SHORTEST]
        if not held:
            return list(paths)
        odds = np.log(likely / (1 - likely))
        places = [at for at, *_ in held]
        said = [(p.heading, p.text[a:b]) for _, p, a, b in held]
        cosines = nearness(self._encoder, question, said, odds[places] / _MEANING)
        # A passage without a sentence is as far as the farthest.
        near = np.full(len(first), cosines.min())
        np.maximum.at(near, places, cosines)
        moved = _by_meaning_too(odds, near)
        order = np.argsort(-moved, kind="stable").tolist()
        steps = [(first[at].steps, _likely(float(moved[at]))) for at in order]
        ranked = [ReasoningPath((*way[:-1], replace(way[-1], judged=new))) for way, new in steps]
        return [*ranked, *paths[_READ:]]


def _by_meaning_too(scores: NDArray[Any], cosine: NDArray[Any]) -> NDArray[Any]:
    """Return log odds with meaning added, the more, the less sure the likeliest passage is.

    The trees learned from questions that share words with what answers them; everyday questions
    need not. The best of the scores stays as it was: it tells whether there is an answer at all.
    """
    if not scores.size:
        return scores
    best = scores.max()
    moved: NDArray[Any] = scores + _MEANING * (1.0 - _likely(best)) ** 2 * cosine
    moved += best - moved.max()
    return moved


def _likely(score: float) -> float:
    """Return the probability of log odds."""
    return 1.0 / (1.0 + math.exp(-max(min(score, 30.0), -30.0)))


def search(
    database: Database, corpus: str, question: str, encode: Callable[[], Sequence[float]]
) -> QuestionSignals:
    """Return the signals of a question; it is sought by words while `encode` makes its vector."""
    read = partial(database.read_packed, "traverse/question_signals", corpus=corpus)
    with ThreadPoolExecutor(1) as executor:
        by_words = executor.submit(in_context(read), question=question, vector=[])
        vector = encode()
        by_meaning = read(question="", vector=list(vector)) if vector else []
        return QuestionSignals(question, vector, [*by_words.result(), *by_meaning])


def seeds_of(signals: QuestionSignals, seeds: int) -> list[str]:
    """Return the seeds: the best results of the search, and passages whose titles are named."""
    named = sorted(signals.named, key=lambda p: (-signals.named[p], p))[:_NAMED_SEEDS]
    return list(dict.fromkeys((*signals.order[:seeds], *named)))[: max(_MOST_FRONTIER, seeds)]


def candidates_of(
    database: Database,
    corpus: str,
    signals: QuestionSignals,
    frontier: Sequence[str],
    settings: TraversalSettings,
    before: Mapping[str, float] | None,
) -> Candidates:
    """Return the candidates of one hop with their features: one call of the database."""
    asked = parts(signals, "vector", "words", "phrases")
    asked |= {"named": list(signals.named), "hits": signals.lexical}
    asked |= {"others": signals.order[:_SEARCHED], "edges": list(settings.edges)}
    asked["judged"] = max(_JUDGED, _JUDGED_EACH * max(settings.budget, settings.seeds))
    rows = database.read_packed(
        "traverse/candidate_signals", frontier=list(frontier), corpus=corpus, **asked
    )
    return Candidates(signals, frontier, rows, before)


def _seed(signals: QuestionSignals, passage: str, cosine: float = 0.0, judged: float = 0.0) -> Step:
    """Return the step to a passage as a seed, which no hop has scored unless it is judged."""
    lists: dict[str, Mapping[str, float]] = {
        "words": signals.lexical_rank, "meaning": signals.cosine_rank, "title": signals.named,
    }  # fmt: skip
    reason = " + ".join(name for name, ranks in lists.items() if passage in ranks)
    match = cosine + _LEXICAL_SHARE * signals.lexical.get(passage, 0.0)
    return Step(passage, "seed", match, reason=reason, judged=judged)


def _path(
    step: Step,
    origin: tuple[int, int],
    frontier: Sequence[str],
    judged: Mapping[str, ReasoningPath],
    paths: Mapping[str, ReasoningPath],
    settings: TraversalSettings,
) -> ReasoningPath:
    """Return the path to a passage: over its best link, if the passage there is scored higher.

    Otherwise its path of the previous hop, or itself as a seed.
    """
    place, kind = origin
    parent = frontier[place] if place >= 0 else ""
    known = paths.get(step.passage)
    before = judged.get(parent) or (None if known else paths.get(parent))
    if before and all(s.passage != step.passage for s in before.steps):
        share = {NAMES: settings.outward, NAMED_BY: settings.inward}.get(kind, 0.0)
        inherited = share * max(before.steps[-1].match, 0.0)
        return before.then(replace(step, edge="", inherited=inherited))
    if known and len(known.steps) > 1:
        last = known.steps[-1]
        again = replace(step, edge=last.edge, inherited=last.inherited, reason=last.reason)
        return ReasoningPath((*known.steps[:-1], again))
    return ReasoningPath((step,))
