"""The frozen types of step III: a checked mind map, and the answer that it goes with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgp_neo4j.triples import ReasoningGraph, Triple

__all__ = [
    "Candidate",
    "Carried",
    "Facts",
    "MapEdge",
    "MindMap",
    "ModelReply",
    "OptionScore",
    "Status",
    "Support",
]

#: `grounded`: the graph says it; `question`: the question says it; `model`: the model adds it from
#: its own knowledge; `contradicts`: the graph says otherwise.
Status = Literal["grounded", "question", "model", "contradicts"]


@dataclass(frozen=True, slots=True)
class MapEdge:
    """An edge of a mind map, and what the evidence says of it.

    `triples` are the ids of the relationships that carry it, or that it contradicts; `evidence` are
    the numbers that the model cited; `note` says in a few words why the status is what it is.
    """

    head: str
    relation: str
    tail: str
    status: Status = "grounded"
    triples: tuple[str, ...] = ()
    evidence: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Support:
    """A question entity that speaks for a candidate, and the triples between them, in order."""

    entity: str
    route: tuple[Triple, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What hangs on a candidate by one relation; `inward` where the relation leads to it."""

    relation: str
    phrase: str
    names: tuple[str, ...]
    triples: tuple[str, ...]
    inward: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that the evidence points at: the question entities behind it, and its facts.

    `score` sums up the links' scores, each divided by the square of its hops.
    """

    name: str
    id: str
    type: str
    score: float
    support: tuple[Support, ...]
    facts: tuple[Facts, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionScore:
    """An option of a multiple choice question, and how the evidence reaches it.

    `routes` are the ways from question entities to the option's entities, the shortest first.
    """

    label: str
    text: str
    score: float
    entities: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    triples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Carried:
    """How much of an answer the evidence carries.

    `edges` and `grounded` count the mind map's; `names` and `known` count the names in it and those
    that the evidence holds. `share` is grounded / edges; None where there is no edge.
    """

    edges: int = 0
    grounded: int = 0
    contradicted: int = 0
    names: int = 0
    known: int = 0

    @property
    def share(self) -> float | None:
        """Return the share of edges that the evidence carries."""
        return self.grounded / self.edges if self.edges else None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a language model replied, and what came of the check.

    `problem` is empty where the reply is the answer, else why it is not: `empty`, `malformed`,
    `ungrounded` or `contradicting`.
    """

    text: str
    answer: str = ""
    inference: str = ""
    edges: tuple[MapEdge, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class MindMap:
    """An answer over a knowledge graph with its mind map (MindMap, section 3.3).

    `by` is `model` or `evidence` (composed without a model). `choice` is the label of the option
    chosen, `supported` whether evidence chose it. `notices` are for the reader: what went wrong
    with the model's reply, ties, and that this is no medical advice.
    """

    question: str
    graph: str
    text: str
    by: Literal["model", "evidence"]
    edges: tuple[MapEdge, ...]
    candidates: tuple[Candidate, ...]
    reasoning: ReasoningGraph
    inference: str = ""
    options: tuple[OptionScore, ...] = ()
    choice: str = ""
    supported: bool = False
    notices: tuple[str, ...] = ()
    carried: Carried = field(default_factory=Carried)
    reply: ModelReply | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    browser: str | None = None
    seconds: float = 0.0
