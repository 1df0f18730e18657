"""Opens language models by name, fits prompts into their context, and counts tokens and cost.

A name is `openai:NAME` or a bare NAME (a chat server's model), `local:FILE.gguf` (which llama.cpp
runs), `auto` (the first that is there), or `none`.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Unpack

from kgp_neo4j.environment.configuration import LanguageSettings, language_settings
from kgp_neo4j.environment.folders import read_key
from kgp_neo4j.llm.available import OLLAMA, available
from kgp_neo4j.llm.cache import CachedModel, reply_cache
from kgp_neo4j.llm.chat import ChatModel
from kgp_neo4j.llm.gguf import GgufModel
from kgp_neo4j.llm.reply_text import CHAT_TOKENS
from kgp_neo4j.types.errors import ConfigurationError, ContextError
from kgp_neo4j.types.language import LanguageModel, ModelWrapper, Reply, ReplyOptions, Usage, Write

#: Stands for the first language model that is there.
AUTO = "auto"
_THREADS = 4


def open_language_model(settings: LanguageSettings) -> LanguageModel | None:
    """Return the model that the settings name, with their cache; None for `none` or no name.

    `auto` is the first one `available`, if any is. Raises ConfigurationError for invalid settings,
    ModelError for a model that cannot be loaded.
    """
    return _open(*_resolved(settings))


def _resolved(settings: LanguageSettings) -> tuple[LanguageSettings, bool]:
    """Return settings with the model that `auto` is now, and whether its server was only found."""
    if (settings.model or "").strip().lower() != AUTO:
        return settings, False
    found = next(available(settings), replace(settings, model=None))
    return found, found.url == OLLAMA and settings.url != OLLAMA


def _open(settings: LanguageSettings, was_found: bool) -> LanguageModel | None:
    """Return the model of a name; a server that nobody named gets neither a key nor a proxy."""
    given = (settings.model or "none").strip()
    if given.lower() in ("none", ""):
        return None
    kind, sign, name = given.partition(":")
    # Names on a server may have colons too (llama3.2:3b).
    if not sign or kind.lower() not in ("openai", "local"):
        kind, name = "openai", given
    if not name.strip():
        hint = "Give openai:NAME, local:FILE.gguf, or none."
        raise ConfigurationError(f"the language model {given!r} has no name", hint=hint)
    name = name.strip()
    if kind.lower() == "openai":
        model = ChatModel(name, settings, own_key="none" if was_found else "")
    else:
        model = GgufModel(name, settings)
    if settings.cache is None:
        return model
    return CachedModel(model, reply_cache(settings.cache), settings, model.identity)


#: By the key, too: after a refusal another one opens the model anew.
_open_once = lru_cache(maxsize=8)(lambda settings, was_found, key: _open(settings, was_found))


def find_model(model: LanguageModel | str | None) -> LanguageModel | None:
    """Return a model; one given by name is opened once, with the configured settings and key."""
    if not isinstance(model, str):
        return model
    settings, was_found = _resolved(language_settings(model=model))
    key = ""
    with suppress(ConfigurationError):  # said where the key is needed
        key = read_key(settings.key_file)
    return _open_once(settings, was_found, key)


def writer(model: LanguageModel) -> Write:
    """Return a function from a prompt to the text of the model's reply."""
    return lambda prompt, **options: model.reply("", prompt, **options).text


def replies(model: LanguageModel, task: str, prompts: Sequence[str]) -> list[Reply]:
    """Return the reply to each prompt, a few requested at once; raises the first error."""
    results: list[Future[Reply]] = [Future() for _ in prompts]
    waiting = deque(zip(prompts, results, strict=True))

    def work() -> None:
        with suppress(IndexError):
            while True:
                prompt, result = waiting.popleft()
                try:
                    result.set_result(model.reply(task, prompt))
                except BaseException as error:
                    result.set_exception(error)

    # Daemon threads, so that an interrupt ends the process at once; a pool's would be joined first.
    for _ in range(min(_THREADS, len(prompts))):
        threading.Thread(target=work, daemon=True).start()
    try:
        wait(results, return_when=FIRST_EXCEPTION)
        return [result.result() for result in results if result.done()]
    finally:
        waiting.clear()


def fit(model: LanguageModel, fixed: str, passages: Sequence[str], tokens: int) -> int:
    """Return how many of the passages, best first, fit into the model's context.

    `fixed` is the rest of the prompt. `tokens`, but at most half of the context, are left free for
    the reply. Passages are taken whole, in their order, up to the first that does not fit.
    """
    left = model.context - min(tokens, model.context // 2) - model.count(fixed) - CHAT_TOKENS
    for number, passage in enumerate(passages):
        left -= model.count(passage) + 2  # for what parts two passages
        if left < 0:
            return number
    return len(passages)


def reply_with_passages(
    model: LanguageModel,
    task: str,
    make: Callable[[Sequence[str]], str],
    passages: Sequence[str],
    **options: Unpack[ReplyOptions],
) -> tuple[Reply, int]:
    """Ask with as many passages, best first, as fit; return the reply and their number.

    `make` writes the prompt of the passages that it gets. Where the model refuses the prompt as too
    long (ContextError), it is asked again with fewer; raises that error where none is left.
    """
    tokens = options.get("tokens", 1024)
    count = fit(model, f"{task}\n{make([])}", passages, tokens)
    while True:
        try:
            return model.reply(task, make(passages[:count]), **options), count
        except ContextError:
            if count == 0:
                raise
            # The model may have learned its context from the refusal.
            count = min(count - 1, fit(model, f"{task}\n{make([])}", passages, tokens))


class MeteredModel(ModelWrapper):
    """A model that counts calls and tokens since the last `take_usage`; threads may share it."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.usage = Usage(model.name)
        self._lock = threading.Lock()

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the model's reply, and count it."""
        reply = self._model.reply(task, prompt, **options)
        with self._lock:
            self.usage = replace(
                self.usage,
                calls=self.usage.calls + 1,
                cached=self.usage.cached + reply.cached,
                prompt_tokens=self.usage.prompt_tokens + reply.prompt_tokens,
                reply_tokens=self.usage.reply_tokens + reply.reply_tokens,
                estimated=self.usage.estimated or reply.estimated,
            )
        return reply

    def take_usage(self) -> Usage:
        """Return the usage since the last call, and reset it."""
        with self._lock:
            usage, self.usage = self.usage, Usage(self.name)
        return usage
