"""Opens language models by name, fits prompts into their context, and counts tokens and cost.

A name is `openai:NAME` or a bare NAME (a chat server's model), `local:FILE.gguf` (which llama.cpp
runs), `auto` (the first that is there), or `none`.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Unpack

from kgp_neo4j.environment.configuration import LanguageSettings, language_settings
from kgp_neo4j.environment.folders import checked_url, read_key
from kgp_neo4j.llm.chat import ChatModel, GgufModel
from kgp_neo4j.llm.reply_text import CHAT_TOKENS
from kgp_neo4j.types.errors import ConfigurationError, ContextError
from kgp_neo4j.types.language import LanguageModel, Reply, ReplyOptions, Usage, Write

#: Stands for the first language model that is there.
AUTO = "auto"
_THREADS = 4
#: Where Ollama listens.
OLLAMA = "http://127.0.0.1:11434/v1"
HOW_TO_GET_ONE = (
    "Start Ollama or another server (llm.url), or set llm.file to a GGUF file: docs/models.md."
)
#: Seconds that a server may be silent, seconds in which it has to say what it has, and bytes.
_SILENT, _WHOLE, _MOST = 2.0, 4.0, 1 << 20


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
    if kind.lower() == "local":
        return GgufModel(name, settings)
    return ChatModel(name, settings, own_key="none" if was_found else "")


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


def available(settings: LanguageSettings) -> Iterator[LanguageSettings]:
    """Yield the settings of each language model that is there, in the order of `auto`.

    First come those of the configured server, then Ollama's, then the configured file. Raises
    ConfigurationError for an address or a key that cannot be used.
    """
    own = checked_url(settings.url) if settings.url else ""
    for url in dict.fromkeys((own or OLLAMA, OLLAMA)):
        # The key is for the configured server alone.
        key = read_key(settings.key_file) if url == own else ""
        for name in _served(url, key):
            if "embed" not in name.lower():  # such a one writes nothing
                yield replace(settings, model=f"openai:{name}", url=url)
    if settings.file is not None and settings.file.is_file():
        yield replace(settings, model=f"local:{settings.file}", url=None)


def _served(url: str, key: str) -> list[str]:
    """Return the models that a server of the OpenAI protocol has; none where it does not say."""
    import requests  # takes time

    headers = {"authorization": f"Bearer {key}"} if key else {}
    asked: dict[str, Any] = {"timeout": _SILENT, "allow_redirects": False, "stream": True}
    told: list[str] = []

    def ask() -> None:
        # Else nobody is there, or what is sent is no list of models.
        with suppress(Exception), requests.Session() as session:
            session.trust_env = url != OLLAMA  # no proxy leads to this machine
            answer = session.get(f"{url}/models", headers=headers, **asked)
            listed = json.loads(answer.raw.read(_MOST, decode_content=True))["data"]
            told.extend([str(each["id"]) for each in listed])

    # One that sends a byte now and then is never silent, and is left alone.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_WHOLE)
    return list(told)


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


class MeteredModel:
    """A model that counts calls and tokens since the last `take_usage`; threads may share it."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = model.name
        self.usage = Usage(model.name)
        self._lock = threading.Lock()

    @property
    def context(self) -> int:
        """Return the tokens for prompt and reply together; a server may set fewer later."""
        return self._model.context

    @property
    def passages(self) -> int | None:
        """Return the number of passages that a prompt should have at most."""
        return self._model.passages

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, or an upper bound."""
        return self._model.count(text)

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the model's reply, and count it."""
        reply = self._model.reply(task, prompt, **options)
        with self._lock:
            used, counted = self.usage, ("cached", "prompt_tokens", "reply_tokens")
            sums = {name: getattr(used, name) + getattr(reply, name) for name in counted}
            estimated = used.estimated or reply.estimated
            self.usage = replace(used, calls=used.calls + 1, estimated=estimated, **sums)
        return reply

    def take_usage(self) -> Usage:
        """Return the usage since the last call, and reset it."""
        with self._lock:
            usage, self.usage = self.usage, Usage(self.name)
        return usage
