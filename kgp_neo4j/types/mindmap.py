"""Frozen types of knowledge graphs: triples, linked entities, evidence and reasoning graphs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self


@dataclass(frozen=True, slots=True)
class GraphLoadReport:
    """The result of `load-kg`: counts of what was read, and of what the graph has now.

    `triples` were read without error, `duplicates` of them were seen before, `skipped` rows lacked
    a value; `new` relationships were made. `skipped_rows` and `errors` have file, line and reason.
    """

    graph: str
    files: int = 0
    triples: int = 0
    duplicates: int = 0
    skipped: int = 0
    new: int = 0
    entities: int = 0
    relationships: int = 0
    relations: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, int] = field(default_factory=dict)
    embedded: int = 0
    skipped_rows: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """A knowledge graph and its counts."""

    name: str
    entities: int
    relationships: int
    encoder: str | None = None


#: What a question says of a mention: that it is there; that it is not; that it was; that somebody
#: else has it; or it asks for what does not have it.
Mentioned = Literal["present", "denied", "past", "other", "asked"]


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """A mention in a question, and the entity of the graph that it was linked to.

    `surface` is the mention as written, `id` and `name` the entity (no `id` below the threshold);
    `score` is a cosine (1 for an exact name), `by` is `name`, `alias`, `words`, `spelling` (all but
    a letter or two of the name), `embedding` or `model`. `alternatives` are the next best names
    with their scores. Only what is `present` is evidence.
    """

    surface: str
    id: str = ""
    name: str = ""
    type: str = ""
    score: float = 0.0
    by: str = "name"
    alternatives: tuple[tuple[str, float], ...] = ()
    status: Mentioned = "present"


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact of the graph in its stored direction, by name; `id` is the relationship's."""

    id: str
    head: str
    relation: str
    tail: str
    head_id: str = ""
    tail_id: str = ""
    head_type: str = ""
    tail_type: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceGraph:
    """One evidence sub-graph (MindMap, section 3.1): a path, or the triples around one entity.

    `kind` is `path` or `neighbour`, `entity` the name of the question entity where it begins (its
    cluster when pruned). A path's triples are in walking order, and `nodes` are the names along it;
    a neighbourhood's are in order of relevance. `score` ranks the sub-graphs of one kind.
    """

    kind: str
    entity: str
    triples: tuple[Triple, ...]
    nodes: tuple[str, ...] = ()
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class RelationPath:
    """A relation path from an entity of a question, and where it leads.

    `steps` are relationship types, each with whether it is walked along its direction. `score` is
    the probability that the question asks for it, `ends` counts the entities at its end, `routes`
    are triples in walking order to the first of them; `reaches` names the question's others among
    them. The ends are `restricted` to those joined to an entity of the question by `facts`.
    """

    entity: str
    entity_id: str
    steps: tuple[tuple[str, bool], ...]
    score: float
    ends: int
    routes: tuple[tuple[Triple, ...], ...] = ()
    reaches: tuple[str, ...] = ()
    restricted: str = ""
    facts: tuple[Triple, ...] = ()

    def end_of(self, route: Sequence[Triple]) -> tuple[str, str]:
        """Return the id and the name of the entity at a route's end."""
        end = self.entity_id, self.entity
        for t in route:
            end = (t.tail_id, t.tail) if t.head_id == end[0] else (t.head_id, t.head)
        return end

    def with_ends(self, ids: Collection[str]) -> Self:
        """Return the path with these of its ends alone."""
        routes = tuple(route for route in self.routes if self.end_of(route)[0] in ids)
        return replace(self, routes=routes, ends=len(ids))


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a question asks for by an absence: entities (id, name, type) that lack a relation.

    `found` are `total` of `among` that the relation joins to something, but to none of `entities`;
    `unrelated` ones among them are of the type alone. `triples` show what they have instead.
    """

    relation: str
    entities: tuple[str, ...]
    found: tuple[tuple[str, str, str], ...] = ()
    unrelated: tuple[tuple[str, str, str], ...] = ()
    total: int = 0
    among: int = 0
    triples: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class ReasoningGraph:
    """The evidence graphs merged (MindMap, section 3.2), written as routes.

    `merged` maps duplicate names to the one that represents them. `asked` are the relation paths
    that may be meant, most probable first. `against` join what the question denies to what was
    found, `lacking` is what it asks for by an absence. `left_out` counts the triples pruned.
    """

    entities: tuple[LinkedEntity, ...]
    evidence: tuple[EvidenceGraph, ...]
    triples: tuple[Triple, ...]
    routes: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[RelationPath, ...] = ()
    against: tuple[Triple, ...] = ()
    lacking: Lacking | None = None
    left_out: int = 0
    seconds: float = 0.0


#: `grounded`: the graph has it; `question`: the question has it; `model`: the model adds it from
#: its own knowledge; `contradicts`: the graph contradicts it.
Status = Literal["grounded", "question", "model", "contradicts"]


@dataclass(frozen=True, slots=True)
class MapEdge:
    """An edge of a mind map, checked against the evidence.

    `triples` are the ids of what supports it, or of what it contradicts; `note` has the reason.
    """

    head: str
    relation: str
    tail: str
    status: Status = "grounded"
    triples: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Support:
    """A question entity that supports a candidate, and the triples between them, in order."""

    entity: str
    route: tuple[Triple, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a candidate by one relation; `inward` where the relation leads to it."""

    relation: str
    phrase: str
    names: tuple[str, ...]
    triples: tuple[str, ...]
    inward: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that the evidence leads to: its question entities, and its facts.

    `score` sums up the links' scores, each divided by the square of its hops, less those of what
    the question denies and the candidate has (`against`).
    """

    name: str
    id: str
    type: str
    score: float
    support: tuple[Support, ...]
    facts: tuple[Facts, ...] = ()
    against: tuple[Support, ...] = ()


@dataclass(frozen=True, slots=True)
class GroundedShare:
    """How much of an answer the evidence supports."""

    edges: int = 0
    grounded: int = 0
    contradicted: int = 0

    @property
    def share(self) -> float | None:
        """Return the share of edges that are grounded, None where there is no edge."""
        return self.grounded / self.edges if self.edges else None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A language model's reply, and the result of its check.

    `problem` is `malformed`, `ungrounded` or `contradicting`, empty where the reply is the answer.
    """

    text: str
    answer: str = ""
    inference: str = ""
    edges: tuple[MapEdge, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class MindMap:
    """An answer over a knowledge graph with its mind map (MindMap, section 3.3).

    `by` is `model`, or `evidence` without one. `notices` tell the faults of the model's reply.
    """

    question: str
    graph: str
    text: str
    by: Literal["model", "evidence"]
    edges: tuple[MapEdge, ...]
    candidates: tuple[Candidate, ...]
    reasoning: ReasoningGraph
    inference: str = ""
    notices: tuple[str, ...] = ()
    carried: GroundedShare = field(default_factory=GroundedShare)
    reply: ModelReply | None = None
    browser: str | None = None
    seconds: float = 0.0
