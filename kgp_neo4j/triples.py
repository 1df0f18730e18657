"""The frozen types of knowledge graphs: triples, linked entities, evidence and reasoning graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "EvidenceGraph",
    "GraphAccount",
    "GraphSummary",
    "LinkedEntity",
    "ReasoningGraph",
    "Triple",
]


# --- load ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GraphAccount:
    """What `load-kg` did: counts of what was read, and of what the graph holds now.

    `triples` were read without fault, `duplicates` of them were met before, `skipped` rows named an
    empty or missing value; `new` relationships were made. `errors` says what was not loaded, each
    with file, line and reason.
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
    errors: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """A knowledge graph and what is in it."""

    name: str
    entities: int
    relationships: int
    encoder: str | None = None


# --- seed, traverse, evidence -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """What a question names, and the entity of the graph that it was linked to.

    `surface` is the text of the question, `id` and `name` the entity; `score` is a cosine (1 for an
    exact name), `by` is `name`, `alias`, `words`, `embedding` or `model`. `alternatives` are the
    next best names with their scores. An entity below the threshold has no `id`.
    """

    surface: str
    id: str = ""
    name: str = ""
    type: str = ""
    score: float = 0.0
    by: str = "name"
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact of the graph in the direction that it is stored in: head, relation, tail by name.

    `id` is the relationship's, `head_id` and `tail_id` are those of the entities.
    """

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
    """One evidence sub-graph (MindMap, section 3.1): a path, or what is around one entity.

    `kind` is `path` or `neighbour`, `entity` the name of the question entity that it begins at (its
    cluster when pruned). The triples of a path are in walking order, and `nodes` are the names
    along it, each once; those of a neighbourhood are in order of relevance. `score` ranks the
    sub-graphs of one kind.
    """

    kind: str
    entity: str
    triples: tuple[Triple, ...]
    nodes: tuple[str, ...] = ()
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class ReasoningGraph:
    """The evidence graphs merged (MindMap, section 3.2), written as routes and as sentences.

    `merged` maps names that were taken to mean the same to the one that stands for them.
    `left_out` counts the triples that pruning left out.
    """

    entities: tuple[LinkedEntity, ...]
    evidence: tuple[EvidenceGraph, ...]
    triples: tuple[Triple, ...]
    routes: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    left_out: int = 0
    seconds: float = 0.0
