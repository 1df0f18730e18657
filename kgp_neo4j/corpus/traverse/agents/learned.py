"""The learned agent, the default: scores the passages of each hop by signals of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from kgp_neo4j.corpus.traverse.agents.search import KnnAgent
from kgp_neo4j.corpus.traverse.judged import judged_traverse
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.corpus import ReasoningPath
from kgp_neo4j.types.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgp_neo4j.corpus.traverse.signals import Candidates
    from kgp_neo4j.graphdb.database import Database
    from kgp_neo4j.models.trees import Scorer
    from kgp_neo4j.types.settings import TraversalSettings

__all__ = ["LearnedAgent"]

#: Labels of the signals in reasons.
_LABELS = {
    "cosine": "means nearly what is asked",
    "cosine_gap": "means nearly what is asked",
    "cosine_rank": "means nearly what is asked",
    "lexical": "has the question's words",
    "lexical_score": "has the question's words",
    "lexical_rank": "has the question's words",
    "coverage": "has the question's words",
    "fused": "found by search",
    "fused_rank": "found by search",
    "title_named": "its title is asked about",
    "titled": "its title is asked about",
    "titled_rare": "its title is asked about",
    "title_share": "its title is asked about",
    "asked_entity": "mentions what is asked about",
    "asked_entities": "mentions what is asked about",
    "length": "its length",
    "out_degree": "how much it mentions",
    "in_degree": "how often it is mentioned",
    "first_gain": "adds words of the question",
    "links": "linked with passages visited",
    "links_rank": "linked with passages visited",
    "names": "named by a passage visited",
    "named_by": "names a passage visited",
    "shares": "shares entities with a passage visited",
    "similar": "is similar to a passage visited",
    "next": "is next to a passage visited",
    "bridge": "shares a name the question lacks",
}
#: Signals from the previous hop, which are no reasons of their own.
_NO_REASONS = ("before", "visited")


class LearnedAgent(KnnAgent):
    """Scores the passages of each hop by all signals at once, with boosted trees.

    It is trained on supporting facts (`kgp-neo4j train scorer`); its model card describes the
    weights in the package. Where a traversal asks it for the next evidence, it returns the question
    as the agent knn does.
    """

    name = "learned"

    def __init__(self, encoder: Encoder, model: str | None = None) -> None:
        super().__init__(encoder)
        self.scorer: Scorer = _load(model)

    def walk(
        self, database: Database, corpus: str, question: str, settings: TraversalSettings
    ) -> list[ReasoningPath]:
        """Return one reasoning path to each retrieved passage, scored again at every hop.

        Raises ConfigurationError for the paper's algorithm, which compares candidates with the next
        evidence alone.
        """
        if settings.algorithm == "paper":
            raise ConfigurationError(
                "the agent learned does not walk by the paper's algorithm",
                hint="Choose another agent, or leave --algorithm out.",
            )
        return judged_traverse(database, corpus, question, self, settings)

    def judge(self, candidates: Candidates, hop: int) -> NDArray[np.float64]:
        """Return a score (log-odds) for each candidate of a hop, counted from 0."""
        trees = self.scorer.later if hop else self.scorer.first
        return trees.scores(candidates.features)

    def reasons(
        self, candidates: Candidates, places: Sequence[int], hop: int, most: int = 3
    ) -> list[str]:
        """Return the strongest signals in favour of some candidates, with their contributions."""
        trees = self.scorer.later if hop else self.scorer.first
        reasons = []
        for row in trees.contributions(candidates.features[list(places)]).tolist():
            shares: dict[str, float] = {}
            for name, share in zip(trees.features, row, strict=True):
                if name in _NO_REASONS:
                    continue
                label = _label(name)
                shares[label] = shares.get(label, 0.0) + share
            best = sorted(shares.items(), key=lambda item: -item[1])[:most]
            reasons.append(
                ", ".join(f"{label} (+{share:.1f})" for label, share in best if share > 0)
            )
        return reasons


@cache
def _label(feature: str) -> str:
    if feature in _LABELS:
        return _LABELS[feature]
    kind = next(
        (
            k
            for k in ("named_by", "names", "shares", "similar", "next", "bridge")
            if feature.startswith(k)
        ),
        "links",
    )
    return _LABELS[kind]


@lru_cache(maxsize=2)
def _load(model: str | None) -> Scorer:
    from kgp_neo4j.models.trees import Scorer

    if model:
        return Scorer.load(Path(model).expanduser() / "scorer.json")
    shipped = resources.files("kgp_neo4j.models") / "learned" / "scorer.json"
    return Scorer.load(Path(str(shipped)))
