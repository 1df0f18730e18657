"""Opens a language model by its name, asks it with what fits into its context, and counts the cost.

A name is `openai:NAME` or a bare NAME (a chat server's model), `local:FOLDER` (a checkpoint that
transformers runs, or its hub name), or `none`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from kgp_neo4j.environment.configuration import LanguageSettings, language_settings
from kgp_neo4j.types.errors import ConfigurationError, ContextError
from kgp_neo4j.types.language import LanguageModel, ModelWrapper, Reply, Usage

if TYPE_CHECKING:
    from kgp_neo4j.llm.chat import ChatModel
    from kgp_neo4j.llm.local import LocalModel

__all__ = [
    "MeteredModel",
    "find_model",
    "fit",
    "open_language_model",
    "replies",
    "reply_with_passages",
    "writer",
]

_AT_ONCE = 4

#: What a chat's form takes besides its texts, and what joins a passage to the one before it.
_FORM = 16
_JOIN = 2


def open_language_model(settings: LanguageSettings) -> LanguageModel | None:
    """Return the model that the settings name, None for `none` or no name.

    Replies are kept on disk where `settings.cache` names a folder. Raises ConfigurationError for
    settings that cannot be, and ModelError for a model that cannot be loaded.
    """
    kind, name = _kind(settings.model or "none")
    if kind == "none":
        return None
    model: ChatModel | LocalModel
    if kind == "local":
        from kgp_neo4j.llm.local import LocalModel

        model = LocalModel(name, settings)
    else:
        from kgp_neo4j.llm.chat import ChatModel

        model = ChatModel(name, settings)
    if settings.cache is None:
        return model
    from kgp_neo4j.llm.cache import CachedModel, ReplyCache

    return CachedModel(model, ReplyCache(settings.cache), settings, model.identity)


@lru_cache(maxsize=8)
def _named(settings: LanguageSettings) -> LanguageModel | None:
    return open_language_model(settings)


def find_model(model: LanguageModel | str | None) -> LanguageModel | None:
    """Return a model, opened once where it is named; what else it needs is as configured."""
    return _named(language_settings(model=model)) if isinstance(model, str) else model


def _kind(model: str) -> tuple[str, str]:
    """Return `openai`, `local` or `none`, and the name without it."""
    said = model.strip()
    if said.lower() in ("none", ""):
        return "none", ""
    kind, sign, name = said.partition(":")
    # A server's own names have colons too (llama3.2:3b).
    if not sign or kind.lower() not in ("openai", "local"):
        return "openai", said
    if not name.strip():
        raise ConfigurationError(
            f"the language model {said!r} has no name",
            hint="Give openai:NAME, local:FOLDER, or none.",
        )
    return kind.lower(), name.strip()


def writer(model: LanguageModel, task: str = "", *, tokens: int = 1024) -> Callable[[str], str]:
    """Return the model as a function of a prompt that gives its reply's text."""
    return lambda prompt: model.reply(task, prompt, tokens=tokens).text


def replies(model: LanguageModel, task: str, prompts: Sequence[str]) -> list[Reply]:
    """Return the reply to each prompt, a few asked for at once; raises the first error."""
    todo: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, Reply | BaseException]] = SimpleQueue()
    for number in range(len(prompts)):
        todo.put(number)

    def work() -> None:
        with suppress(Empty):
            while True:
                number = todo.get_nowait()
                try:
                    done.put((number, model.reply(task, prompts[number])))
                except BaseException as error:
                    done.put((number, error))

    # An interrupt waits for no server, as the threads of a pool would at the end of the process.
    for _ in range(min(_AT_ONCE, len(prompts))):
        threading.Thread(target=work, daemon=True).start()
    made: dict[int, Reply] = {}
    try:
        while len(made) < len(prompts):
            number, said = done.get()
            if isinstance(said, BaseException):
                raise said
            made[number] = said
    finally:
        with suppress(Empty):
            while True:
                todo.get_nowait()
    return [made[number] for number in range(len(prompts))]


def fit(model: LanguageModel, fixed: str, passages: Sequence[str], tokens: int) -> int:
    """Return how many of the passages, best first, fit into the model's context.

    `fixed` is all else of the prompt (task, question, instructions) and `tokens` the room of the
    reply, of which half the context at most is kept free. Passages are taken whole, in their order,
    up to the first that has no room.
    """
    left = model.context - min(tokens, model.context // 2) - model.count(fixed) - _FORM
    for number, passage in enumerate(passages):
        left -= model.count(passage) + _JOIN
        if left < 0:
            return number
    return len(passages)


def reply_with_passages(
    model: LanguageModel,
    task: str,
    make: Callable[[Sequence[str]], str],
    passages: Sequence[str],
    *,
    tokens: int = 1024,
    on_text: Callable[[str], None] | None = None,
) -> tuple[Reply, int]:
    """Ask with as many passages, best first, as the model reads; return the reply and their number.

    `make` writes the prompt of the passages that it is given. Where the model finds it too long all
    the same (ContextError), it is asked again with fewer; raises that error where none is left.
    """
    kept = fit(model, f"{task}\n{make([])}", passages, tokens)
    while True:
        prompt = make(passages[:kept])
        try:
            return model.reply(task, prompt, tokens=tokens, on_text=on_text), kept
        except ContextError:
            if kept == 0:
                raise
            # The model may have learned its context from the refusal.
            kept = min(kept - 1, fit(model, f"{task}\n{make([])}", passages, tokens))


class MeteredModel(ModelWrapper):
    """A language model that counts calls, tokens and cost; for any number of threads.

    `usage` is what all replies took since it was made, or since `take_usage`.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.usage = Usage(model.name)
        self._lock = threading.Lock()

    def reply(
        self,
        task: str,
        prompt: str,
        *,
        tokens: int = 1024,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Return the model's reply, and count it."""
        reply = self._model.reply(task, prompt, tokens=tokens, on_text=on_text)
        with self._lock:
            self.usage = _added(self.usage, reply)
        return reply

    def take_usage(self) -> Usage:
        """Return what the replies took since the last call, and begin anew."""
        with self._lock:
            usage, self.usage = self.usage, Usage(self.name)
        return usage


def _added(usage: Usage, reply: Reply) -> Usage:
    cost = usage.cost
    if reply.cost is not None:
        cost = (cost or 0.0) + reply.cost
    return replace(
        usage,
        calls=usage.calls + 1,
        cached=usage.cached + reply.cached,
        prompt_tokens=usage.prompt_tokens + reply.prompt_tokens,
        reply_tokens=usage.reply_tokens + reply.reply_tokens,
        cost=cost,
        estimated=usage.estimated or reply.estimated,
    )
