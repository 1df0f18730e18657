"""Traverse: an agent walks the graph from the seeds and gathers evidence (KGP, Algorithm 1)."""

from kgp_neo4j.traverse.agents import (
    AGENTS,
    Agent,
    AgentSettings,
    ChatAgent,
    KnnAgent,
    LearnedAgent,
    LlamaAgent,
    MdrAgent,
    RandomAgent,
    T5Agent,
    TfidfAgent,
    make_agent,
)
from kgp_neo4j.traverse.algorithm import traverse
from kgp_neo4j.traverse.passages import read_passages
from kgp_neo4j.traverse.settings import EDGES, TraversalSettings

__all__ = [
    "AGENTS",
    "EDGES",
    "Agent",
    "AgentSettings",
    "ChatAgent",
    "KnnAgent",
    "LearnedAgent",
    "LlamaAgent",
    "MdrAgent",
    "RandomAgent",
    "T5Agent",
    "TfidfAgent",
    "TraversalSettings",
    "make_agent",
    "read_passages",
    "traverse",
]
