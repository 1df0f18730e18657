"""Traverse: an agent walks the graph from the seeds and gathers evidence (KGP, Algorithm 1)."""

from kgp_neo4j.traverse.agents import (
    AGENTS,
    Agent,
    AgentSettings,
    KnnAgent,
    RandomAgent,
    TfidfAgent,
    make_agent,
)
from kgp_neo4j.traverse.algorithm import EDGES, TraversalSettings, traverse
from kgp_neo4j.traverse.passages import read_passages

__all__ = [
    "AGENTS",
    "EDGES",
    "Agent",
    "AgentSettings",
    "KnnAgent",
    "RandomAgent",
    "TfidfAgent",
    "TraversalSettings",
    "make_agent",
    "read_passages",
    "traverse",
]
