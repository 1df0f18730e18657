"""Makes the traversal agent of a name."""

from typing import get_args

from kgp_neo4j.corpus.traverse.agents.generating import ChatAgent, LlamaAgent
from kgp_neo4j.corpus.traverse.agents.learned import LearnedAgent
from kgp_neo4j.corpus.traverse.agents.search import KnnAgent, MdrAgent, RandomAgent, TfidfAgent
from kgp_neo4j.corpus.traverse.algorithm import Agent
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.checks import check_choice
from kgp_neo4j.types.corpus import AgentName
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.settings import AgentSettings

#: The names `--agent` takes.
AGENTS = get_args(AgentName)
#: The agents that take a model.
_TAKERS = ("learned", "llama", "chat")


def make_agent(name: str, encoder: Encoder | None, settings: AgentSettings | None = None) -> Agent:
    """Return the agent of that name; `knn` and `learned` need the corpus's encoder.

    Raises ConfigurationError for settings that the agent does not take or that it lacks.
    """
    settings = settings or AgentSettings()
    check_choice("agent", name, AGENTS)
    if settings.model is not None and name not in _TAKERS:
        raise ConfigurationError(
            f"the agent {name} takes no model",
            hint=f"Leave --model out, or choose --agent {', '.join(_TAKERS)}.",
        )
    match name:
        case "tfidf":
            return TfidfAgent()
        case "random":
            return RandomAgent(encoder, settings.seed)
        case "mdr":
            return MdrAgent(encoder)
        case "chat":
            return ChatAgent(settings, encoder)
        case "llama":
            return LlamaAgent(settings, encoder)
    if encoder is None:
        raise ConfigurationError(
            f"the agent {name} needs a corpus with embeddings",
            hint="Run `kgp-neo4j connect` with similarity edges, or use --agent tfidf.",
        )
    return LearnedAgent(encoder, settings.model) if name == "learned" else KnnAgent(encoder)
