"""Traversal agents: what evidence should come next on a reasoning path (KGP, Eq. 1)."""

from __future__ import annotations

from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.models import Encoder
from kgp_neo4j.traverse.agents.base import Agent, AgentSettings
from kgp_neo4j.traverse.agents.search import KnnAgent, RandomAgent, TfidfAgent

__all__ = [
    "AGENTS",
    "Agent",
    "AgentSettings",
    "KnnAgent",
    "RandomAgent",
    "TfidfAgent",
    "make_agent",
]

#: The names `--agent` takes.
AGENTS = ("random", "tfidf", "knn")


def make_agent(name: str, encoder: Encoder | None, settings: AgentSettings | None = None) -> Agent:
    """Return the agent of that name; all but `tfidf` and `random` need the corpus's encoder."""
    settings = settings or AgentSettings()
    if name not in AGENTS:
        raise ConfigurationError(
            f"there is no agent named {name!r}", hint=f"Choose one of {', '.join(AGENTS)}."
        )
    if name == "tfidf":
        return TfidfAgent()
    if name == "random":
        return RandomAgent(KnnAgent(encoder) if encoder else TfidfAgent(), settings.seed)
    if encoder is None:
        raise ConfigurationError(
            f"the agent {name} needs a corpus with embeddings",
            hint="Run `kgp-neo4j connect` with similarity edges, or use --agent tfidf.",
        )
    return KnnAgent(encoder)
