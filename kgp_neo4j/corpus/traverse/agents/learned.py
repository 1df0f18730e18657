"""The learned agent, the default, and the signals of the graph that it scores passages by."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.traverse.agents.search import KnnAgent
from kgp_neo4j.corpus.traverse.algorithm import tell_hop, with_edges
from kgp_neo4j.environment.job import in_context
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.models.encoder import Encoder, nearness
from kgp_neo4j.models.engine import load_scorer
from kgp_neo4j.text.safe import parts
from kgp_neo4j.text.words import content_words, cut, fold
from kgp_neo4j.types.corpus import Passage, ReasoningPath, Step
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings

_RRF = 60
_MOST_RANKED = 100
_MOST_TITLES = 20
#: Most words and phrases of a question that are used, for questions as long as a page.
_MOST_WORDS = 64
_MOST_PHRASES = 400
#: Words of the longest phrase.
_LONGEST = 5
#: Kinds of links, as `traverse/candidate_signals` numbers them.
NAMES, NAMED_BY, SHARES, SIMILAR, NEXT, BRIDGE, ASKED = range(7)
#: The first five of them, as the features name them.
_KINDS = ("names", "named_by", "shares", "similar", "next")
_NO_RANK = 50.0


class QuestionSignals:
    """The signals of a question from the search, of rows of `traverse/question_signals`.

    `lexical` and `named` score passages by words, the best by 1, and by titles that it names;
    `cosines` are of those found by meaning, best first. `order` fuses all three by reciprocal rank.
    """

    def __init__(self, text: str, vector: Sequence[float], rows: Sequence[Row]) -> None:
        lexical, cosine, self.named = (
            {r["passage"]: float(r[kind]) for r in rows if r[kind] is not None}
            for kind in ("lexical", "cosine", "named")
        )
        self.vector = list(vector)
        self.words = [_stem(word) for word in content_words(text)[:_MOST_WORDS]]
        self.phrases = _question_phrases(text)[:_MOST_PHRASES]
        self.best_lexical = max(lexical.values(), default=1.0)
        self.lexical = {passage: score / self.best_lexical for passage, score in lexical.items()}
        self.cosines = sorted(cosine.values(), reverse=True)
        self.lexical_rank = _places(_ranked(lexical)[:_MOST_RANKED])
        self.cosine_rank = _places(_ranked(cosine)[:_MOST_RANKED])
        self.fused: dict[str, float] = defaultdict(float)
        titles = _places(_ranked(self.named)[:_MOST_TITLES])
        for ranking in (self.lexical_rank, self.cosine_rank, titles):
            for passage, rank in ranking.items():
                self.fused[passage] += 1.0 / (_RRF + rank)
        self.order = _ranked(self.fused)
        self.rank = _places(self.order)


def _places(ranked: Sequence[str]) -> dict[str, int]:
    return {passage: rank for rank, passage in enumerate(ranked)}


def _ranked(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda passage: (-scores[passage], passage))


def _stem(word: str) -> str:
    """Return a rough stem of a word, which is searched within words."""
    if len(word) <= 4 or not word.isascii():
        return word
    for end, rest in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", "")):
        if word.endswith(end) and len(word) > len(end) + 3:
            return word[: -len(end)] + rest
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _question_phrases(text: str) -> list[str]:
    """Return the n-grams of a question that could be entities, normalised as their names are."""
    low, content = cut(text).keys, {fold(word) for word in content_words(text)}
    ends = [at for at, word in enumerate(low) if word in content]
    # Of each place those up to four words behind it.
    near = [(first, last) for n, first in enumerate(ends) for last in ends[n : n + _LONGEST]]
    phrases = (low[first : last + 1] for first, last in near if last < first + _LONGEST)
    return list(dict.fromkeys(map(" ".join, phrases)))


class Candidates:
    """The passages of one hop and their features, from rows of `traverse/candidate_signals`.

    `features` has the shape (passages, len(FEATURES)), `origin` for each the index in the frontier
    and the kind of its best link, (-1, -1) for none. `before` has the scores of the hop before,
    None at the first. Links are matrices of shape (frontier, passages), one for each kind.
    """

    def __init__(
        self,
        question: QuestionSignals,
        frontier: Sequence[str],
        rows: Sequence[Row],
        before: Mapping[str, float] | None,
    ) -> None:
        self.question = question
        self.ids = [row["passage"] for row in rows]
        self.rows = rows
        self.frontier = frontier
        self.before = before
        size, width = len(rows), max(len(frontier), 1)
        place = {passage: at for at, passage in enumerate(self.ids)}
        #: Passages that came since the others were embedded, with their rank by words, whose cosine
        #: they get; without it they are as far as what search by meaning does not find.
        self.unembedded = {
            row["passage"]: question.lexical_rank.get(row["passage"], _MOST_RANKED)
            for row in rows
            if row["cosine"] is None
        }
        cosines = question.cosines or [0.0]
        given = {p: cosines[min(at, len(cosines) - 1)] for p, at in self.unembedded.items()}
        self.cosine = np.array([given.get(r["passage"], r["cosine"]) for r in rows], np.float32)
        links = np.array(
            [(at, *link) for at, row in enumerate(rows) for link in row["links"]], np.float32
        ).reshape(-1, 4)
        of, kind, parent = links[:, :3].astype(np.intp).T
        weight, asked = links[:, 3], kind == ASKED
        self.asked = np.zeros((2, size), np.float32)  # the rarest, and all of them
        np.maximum.at(self.asked[0], of[asked], weight[asked])
        np.add.at(self.asked[1], of[asked], weight[asked])
        self.links = np.zeros((6, width, size), np.float32)
        np.maximum.at(self.links, (kind[~asked], parent[~asked], of[~asked]), weight[~asked])
        parents = np.array([place.get(passage, -1) for passage in frontier] or [-1])
        # What stands at -1 is of a parent that is none of them, as where all were deleted since.
        self.parent_cosine = np.append(self.cosine, np.float32(0.0))[parents]
        self.itself = parents[:, None] == np.arange(size)
        self.links[:, self.itself] = 0.0
        self._compare_words(parents)
        scores = [(before or {}).get(passage, -9.0) for passage in frontier]
        self.before_parent = np.array(scores or [-9.0], np.float32)
        self.likely = 1.0 / (1.0 + np.exp(-self.before_parent))
        features = self._alone() | self._linked() | self._bridged()
        self.features = np.array([features[name] for name in FEATURES], np.float32).T
        self.origin = self._origin()

    def _compare_words(self, parents: NDArray[np.int_]) -> None:
        """Set how many of the question's words candidates and their parents have, by rarity."""
        rows, asked = self.rows, self.question.words
        size = len(rows)
        covered = _marked([row["covered"] for row in rows], len(asked))
        titled = _marked([row["titled"] for row in rows], len(asked))
        # The rarity of a word among these passages is an estimate of its rarity in the corpus.
        weight = np.log1p(size / (1.0 + covered.sum(0)))
        total = max(float(weight.sum()), 1e-6)
        self.coverage = (covered * weight).sum(1) / total
        self.titled = (titled * weight).sum(1) / total
        # In a long document a word of the question may be rare in the headings alone.
        rare = np.log1p(size / (1.0 + titled.sum(0)))
        self.titled_rare = (titled * rare).sum(1) / max(float(rare.sum()), 1e-6)
        lengths = np.array([len(word) for word in asked] or [0])
        title_lengths = np.array([max(row["titleLength"], 1) for row in rows])
        self.title_share = (titled * lengths).sum(1) / title_lengths
        parent_covered = np.pad(covered, ((0, 1), (0, 0)))[parents]
        self.parent_coverage = (parent_covered * weight).sum(1) / total
        #: The share of the question's words that a candidate has and the parent lacks.
        self.gain = np.ascontiguousarray(((covered * weight) @ (~parent_covered).T).T) / total

    def _alone(self) -> dict[str, Sequence[float] | NDArray[Any]]:
        """Return the features of the passages themselves, without links."""
        question, ids = self.question, self.ids
        lexical = np.array([question.lexical.get(p, 0.0) for p in ids])
        cosine_rank = {**question.cosine_rank, **self.unembedded}
        fused = {p: 1 / (_RRF + rank) for p, rank in self.unembedded.items() if rank < _MOST_RANKED}
        return {
            **parts(self, "cosine", "coverage", "titled", "titled_rare", "title_share"),
            "cosine_gap": max(question.cosines, default=0.0) - self.cosine,
            "lexical": lexical,
            "lexical_score": lexical * question.best_lexical,
            "lexical_rank": [question.lexical_rank.get(p, 100) for p in ids],
            "cosine_rank": [cosine_rank.get(p, 100) for p in ids],
            "fused": [(question.fused.get(p, 0.0) + fused.get(p, 0.0)) * _RRF for p in ids],
            "fused_rank": [question.rank.get(p, 200) for p in ids],
            "title_named": [question.named.get(p, 0.0) for p in ids],
            "out_degree": [row["outDegree"] for row in self.rows],
            "in_degree": [row["inDegree"] for row in self.rows],
            "length": [row["length"] for row in self.rows],
            "asked_entity": self.asked[0],
            "asked_entities": self.asked[1],
            "before": [(self.before or {}).get(p, -9.0) for p in ids],
            "visited": self.itself.any(0),
        }

    def _linked(self) -> dict[str, Sequence[float] | NDArray[Any]]:
        """Return the features of the edges that lead to the passages."""
        weights = self.links[: len(_KINDS)]
        present = weights > 0
        any_kind = present[:SIMILAR].any(0)
        rank = np.arange(weights.shape[1], dtype=np.float32)[:, None]
        named = np.array([p in self.question.named for p in self.frontier] or [False])[:, None]
        of_kinds = {
            "links": present.sum(1),
            "rank": np.where(present, rank, _NO_RANK).min(1),
            "cosine": np.where(present, self.parent_cosine[:, None], -1.0).max(1),
            "weight": weights.max(1),
            "asked": (present & named).sum(1),
            "gain": np.where(present, self.gain, 0.0).max(1),
            "union": np.where(present, self.gain + self.parent_coverage[:, None], 0.0).max(1),
            # The scores of the linked passages at the previous hop.
            "before": np.where(present, self.before_parent[:, None], -12.0).max(1),
            "likely_gain": (present * self.likely[:, None] * self.gain).max(1),
        }
        each = {
            f"{kind}_{part}": values[at]
            for part, values in of_kinds.items()
            for at, kind in enumerate(_KINDS)
        }
        every = np.where(any_kind, rank, _NO_RANK).min(0)
        return {"links": any_kind.sum(0), "links_rank": every, **each}

    def _bridged(self) -> dict[str, Sequence[float] | NDArray[Any]]:
        """Return the features of shared entities that the question does not name."""
        bridge = self.links[BRIDGE]
        rank = np.arange(len(bridge), dtype=np.float32)[:, None]
        covered = self.parent_coverage[:, None]
        likely = bridge * self.likely[:, None]
        return {
            "bridge": bridge.max(0),
            "bridge_gain": (bridge * self.gain).max(0),
            "bridge_union": (bridge * (self.gain + covered)).max(0),
            "bridge_coverage": (bridge * covered).max(0),
            "bridge_rank": (bridge / (2.0 + rank)).max(0),
            "bridge_first": bridge[:3].max(0),
            "bridge_likely": likely.max(0),
            "bridge_likely_gain": (likely * self.gain).max(0),
            "first_gain": self.gain[0],
        }

    def _origin(self) -> list[tuple[int, int]]:
        """Return for each candidate the parent and the kind of its strongest link."""
        likely: NDArray[Any] = self.likely if self.before else 0.5 + 0.5 * self.parent_cosine
        # An edge that names a title is stronger than one that shares a word.
        trust = np.array([1.0, 0.8, 0.5, 0.4, 0.3, 0.5], np.float32)[:, None, None]
        strength = (self.links > 0) * trust * likely[:, None]
        strength[BRIDGE] *= self.links[BRIDGE]
        kinds, width, size = strength.shape
        flat = strength.reshape(kinds * width, size)
        places = zip(flat.argmax(0).tolist(), flat.max(0).tolist(), strict=True)
        return [(at % width, at // width) if best > 0 else (-1, -1) for at, best in places]


def _marked(places: Sequence[Sequence[int]], width: int) -> NDArray[np.bool_]:
    """Return an array of shape (rows, width) that is true at each row's places."""
    marked = np.zeros((len(places), max(width, 1)), bool)
    rows = np.repeat(np.arange(len(places)), list(map(len, places)))
    marked[rows, np.fromiter(chain.from_iterable(places), np.intp)] = True
    return marked


#: What is known of each kind of link.
_OF_LINKS = "links rank cosine weight asked gain union before likely_gain".split()
#: The features of a candidate, by column. New ones come last, for the scorers trained before.
FEATURES = (
    *"cosine cosine_gap lexical lexical_score lexical_rank cosine_rank fused fused_rank".split(),
    *"title_named out_degree in_degree length asked_entity asked_entities coverage".split(),
    *"bridge bridge_gain bridge_union bridge_coverage bridge_rank bridge_first".split(),
    *"first_gain before visited bridge_likely bridge_likely_gain links links_rank".split(),
    *(f"{kind}_{part}" for kind in _KINDS for part in _OF_LINKS),
    *"titled titled_rare title_share".split(),
)


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
    graphs = ("keywords", "entities", "similarity")
    takes_model = True
    _encoder: Encoder

    def __init__(self, encoder: Encoder, settings: AgentSettings) -> None:
        super().__init__(encoder, settings)
        self._first, self._later = load_scorer(settings.model)

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
