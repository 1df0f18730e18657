"""The agent that asks a server with the OpenAI protocol what evidence should come next."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from kgp_neo4j.configuration import language_settings
from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.models import Encoder
from kgp_neo4j.models.language import open_language_model, replies
from kgp_neo4j.traverse.agents.base import AgentSettings
from kgp_neo4j.traverse.agents.generating import GeneratingAgent, readable
from kgp_neo4j.traverse.agents.prompts import chat_prompt, chat_task, fitted

__all__ = ["ChatAgent"]

#: About 4,000 tokens: half of what any model reads today.
_CHARACTERS = 16_000
_log = logging.getLogger("kgp_neo4j")


class ChatAgent(GeneratingAgent):
    """Writes with the model named, else the one that is configured (`open_language_model`).

    The paths of a beam are asked for at once, a few at a time. A single reply that is refused or
    empty leaves the question as what is expected, with a warning; ModelError is raised where the
    server cannot be used at all.
    """

    name = "chat"

    def __init__(self, settings: AgentSettings, encoder: Encoder | None) -> None:
        super().__init__(encoder)
        model = open_language_model(
            language_settings(
                model=settings.model,
                url=settings.url,
                temperature=settings.temperature,
                seed=settings.seed,
            )
        )
        if model is None:
            raise ConfigurationError(
                "the agent chat needs the name of a model",
                hint="Give --model, as the chat server calls it.",
            )
        self._model = model

    def write(self, question: str, evidence: Sequence[Sequence[str]]) -> list[str]:
        """Return the model's reply for each list of evidence; empty where it gave none."""
        prompts = [fitted(chat_prompt, question, e, len, _CHARACTERS) for e in evidence]
        written = [readable(reply.text) for reply in replies(self._model, chat_task(), prompts)]
        lost = sum(not text for text in written)
        if lost:
            _log.warning(
                "Warning: the model %s gave no evidence for %d of %d paths (an empty or refused "
                "reply); the question stands in for it.",
                self._model.name,
                lost,
                len(written),
            )
        return written
