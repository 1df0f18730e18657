"""The learned agent: judges passages, hop by hop, by signals of the graph (the default agent)."""

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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgp_neo4j.corpus.traverse.signals import Candidates
    from kgp_neo4j.graphdb.database import Database
    from kgp_neo4j.models.trees import Scorer
    from kgp_neo4j.types.settings import TraversalSettings

__all__ = ["LearnedAgent"]

#: What a signal is called where it is given as a reason.
_WORDS = {
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
    "bridge": "shares a name the question lacks",
}
#: What the hop before said of a passage is no reason of its own.
_EARLIER = ("before", "visited")


class LearnedAgent(KnnAgent):
    """Judges each hop's passages by all signals at once, with boosted trees.

    It is trained on supporting facts (`kgp-neo4j train scorer`); the weights shipped with the
    package are those of its model card. Where a traversal asks it for an expectation instead, it
    expects what means nearly the same as the question.
    """

    name = "learned"

    def __init__(self, encoder: Encoder, model: str | None = None) -> None:
        super().__init__(encoder)
        self.scorer: Scorer = _load(model)

    def walk(
        self, database: Database, corpus: str, question: str, settings: TraversalSettings
    ) -> list[ReasoningPath]:
        """Return one reasoning path to each retrieved passage, judged anew at every hop."""
        return judged_traverse(database, corpus, question, self, settings)

    def judge(self, candidates: Candidates, hop: int) -> NDArray[np.float64]:
        """Return a score for each candidate of a hop (counted from 0), in no unit of its own."""
        trees = self.scorer.later if hop else self.scorer.first
        return trees.scores(candidates.features)

    def reasons(
        self, candidates: Candidates, places: Sequence[int], hop: int, most: int = 3
    ) -> list[str]:
        """Say which signals spoke for some candidates, the strongest first, each with its share."""
        trees = self.scorer.later if hop else self.scorer.first
        made = []
        for row in trees.contributions(candidates.features[list(places)]).tolist():
            shares: dict[str, float] = {}
            for name, share in zip(trees.features, row, strict=True):
                if name in _EARLIER:
                    continue
                said = _said(name)
                shares[said] = shares.get(said, 0.0) + share
            best = sorted(shares.items(), key=lambda item: -item[1])[:most]
            made.append(", ".join(f"{said} (+{share:.1f})" for said, share in best if share > 0))
        return made


@cache
def _said(feature: str) -> str:
    if feature in _WORDS:
        return _WORDS[feature]
    kind = next(
        (k for k in ("named_by", "names", "shares", "similar", "bridge") if feature.startswith(k)),
        "links",
    )
    return _WORDS[kind]


@lru_cache(maxsize=2)
def _load(model: str | None) -> Scorer:
    from kgp_neo4j.models.trees import Scorer

    if model:
        return Scorer.load(Path(model).expanduser() / "scorer.json")
    shipped = resources.files("kgp_neo4j.models") / "learned" / "scorer.json"
    return Scorer.load(Path(str(shipped)))
