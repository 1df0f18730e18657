"""Caches the replies of language models on disk."""

import hashlib
import json
from pathlib import Path
from typing import Unpack

from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.environment.kept import KeptValues
from kgp_neo4j.types.language import LanguageModel, ModelWrapper, Reply, ReplyOptions

#: Most bytes on disk, some hundred thousand replies; the oldest are dropped first.
_LARGEST = 256 << 20


def reply_cache(folder: Path, *, largest: int = _LARGEST) -> KeptValues[str]:
    """Return texts by the hash of their request, in a folder; requests are not stored."""
    return KeptValues(folder / "replies.db", str, largest)


class CachedModel(ModelWrapper):
    """A language model with a cache: a repeated request costs nothing.

    `identity` distinguishes models of the same name: a server's address, a checkpoint's state.
    Only complete replies are cached: drawn by a fixed seed, a new reply would be the same.
    """

    def __init__(
        self, model: LanguageModel, kept: KeptValues[str], settings: LanguageSettings, identity: str
    ) -> None:
        super().__init__(model)
        self._kept = kept
        settled = (settings.temperature, settings.seed, settings.max_tokens)
        self._identity = (identity, model.name, *settled)

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the cached reply, which has no tokens, or the model's."""
        limits = (options.get("tokens", 1024), options.get("grammar"), options.get("schema"))
        request = json.dumps([*self._identity, *limits, task, prompt])
        key = hashlib.sha256(request.encode()).hexdigest()
        text = self._kept.find([key]).get(key)
        if text is not None:
            if on_text := options.get("on_text"):
                on_text(text)
            return Reply(text, cached=True)
        reply = self._model.reply(task, prompt, **options)
        if reply.finish == "stop":
            self._kept.keep({key: reply.text})
        return reply
