"""A language model behind a server with the OpenAI protocol (`/chat/completions`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from kgp_neo4j.configuration import LanguageSettings, checked_url, read_key
from kgp_neo4j.errors import ConfigurationError, ContextError, ModelError
from kgp_neo4j.language import Reply
from kgp_neo4j.models.chat_errors import (
    broken_off,
    context_of,
    in_our_words,
    not_the_protocol,
    refused_option,
)
from kgp_neo4j.models.limits import limiter
from kgp_neo4j.models.written import Shown, tokens_at_most, without_reasoning

__all__ = ["DEFAULT_URL", "ChatModel", "without_reasoning"]

DEFAULT_URL = "https://api.openai.com/v1"
#: What a server reads at least, where neither it nor the settings say more.
_CONTEXT = 8192
#: Tokens that a chat's form takes besides its texts.
_FORM = 16
#: Room that is worth asking for, where the context leaves less than was wanted.
_LEAST_ROOM = 128
_CONNECT_SECONDS = 10.0
#: The first wait after a connection that was lost within a reply; each further one is twice that.
_WAIT = 0.5
_LONGEST_WAIT = 8.0
#: What the package openai sends to any server, keys of other kinds included.
_HEADERS = "OPENAI_CUSTOM_HEADERS"
_FINISH = {"length": "length", "max_tokens": "length", "content_filter": "refused"}


class ChatModel:
    """A model of a chat server: that of `settings.url`, else OpenAI's own.

    The key comes from OPENAI_API_KEY, or from a file of mode 0600, and is shown nowhere. A busy or
    failing server is asked again with growing waits (as Retry-After says, where it does), and so is
    one that lost the connection within a reply. A setting that the model does not take is left out.
    """

    def __init__(self, name: str, settings: LanguageSettings | None = None) -> None:
        settings = settings or LanguageSettings()
        self.name = name
        self.context = settings.context or _CONTEXT
        #: True where the settings or the server itself said how much the model reads.
        self._sure = settings.context is not None
        self._settings = settings
        self._url = checked_url(settings.url or DEFAULT_URL)
        self._key = _key(self._url, settings)
        self._client = _client(self._url, self._key, settings)
        self._limiter = limiter(
            f"{self._url} {name}", settings.requests_per_minute, settings.tokens_per_minute
        )
        #: Options that the model turned out not to take.
        self._untaken: set[str] = set()

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r}, {self._url!r})"

    @property
    def identity(self) -> str:
        """What tells this model from one of the same name: its server."""
        return f"chat {self._url}"

    def count(self, text: str) -> int:
        """Return how many tokens a text will hardly exceed; the server's tokenizer is unknown."""
        return tokens_at_most(text)

    def reply(
        self,
        task: str,
        prompt: str,
        *,
        tokens: int = 1024,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Return the reply to one prompt, handed to `on_text` while it is written.

        Raises ModelError where the server cannot be used at all, and ContextError for a prompt that
        is too long for its model; `context` then says how much it reads, as far as the server told.
        """
        import openai

        messages = [{"role": "system", "content": task}] if task else []
        messages.append({"role": "user", "content": prompt})
        length = self.count(task) + self.count(prompt) + _FORM
        wanted = self._settings.max_tokens or tokens
        shown = Shown(on_text) if on_text is not None else None
        while True:
            options = self._options(self._room(length, wanted))
            self._limiter.wait(length + wanted)
            try:
                if shown is not None and "stream" not in self._untaken:
                    made = self._streamed(messages, options, shown)
                else:
                    made = self._whole(messages, options)
                    if shown is not None:
                        shown.show(made.text, done=True)
            except openai.APIStatusError as error:
                # Without the chain, whose request carries the key.
                self._learn(error, options, length, wanted)
            except openai.OpenAIError as error:
                raise self._error(error) from None
            else:
                return self._counted(made, length)

    def _room(self, length: int, wanted: int) -> int:
        """Return the tokens that a reply may have; ContextError where the prompt leaves none."""
        if not self._sure:
            return wanted
        room = min(wanted, self.context - length)
        if room < min(wanted, _LEAST_ROOM):
            raise ContextError(
                f"the prompt has up to {length:,} tokens and the model {self.name!r} reads "
                f"{self.context:,} together with its reply",
                where=self._url,
                hint="Ask with fewer passages, or set llm.context if it reads more.",
            )
        return room

    def _options(self, room: int) -> dict[str, Any]:
        options: dict[str, Any] = {
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
            "max_tokens": room,
        }
        if "max_tokens" in self._untaken:
            options["max_completion_tokens"] = room  # its newer name
        return {name: value for name, value in options.items() if name not in self._untaken}

    def _learn(self, error: Any, options: dict[str, Any], length: int, wanted: int) -> None:
        """Take from a refusal what may make the request pass; raise ModelError where nothing."""
        context = context_of(error)
        if context is not None:
            known = self.context if self._sure else max(self.context, length + wanted)
            # Where the server does not say how much, or says what was kept to: less than before.
            self.context = context if 0 < context < known else known * 3 // 4
            self._sure = True
            if self.context - length >= min(wanted, _LEAST_ROOM):
                return  # a shorter reply has room
            raise ContextError(
                f"the prompt is too long for the model {self.name!r}",
                where=self._url,
                hint="Ask with fewer passages, or set llm.context to what it reads.",
            ) from None
        name = refused_option(error, {*options, "stream", "stream_options"} - self._untaken)
        if name is None:
            raise self._error(error) from None
        self._untaken.add(name)

    def _whole(self, messages: list[dict[str, str]], options: dict[str, Any]) -> Reply:
        made = self._client.chat.completions.create(model=self.name, messages=messages, **options)
        choices = getattr(made, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(first, "message", None)
        if first is None or message is None:
            raise not_the_protocol(self._url)
        refused = bool(getattr(message, "refusal", None))
        said = message.content if isinstance(message.content, str) else ""
        return _reply(said, first.finish_reason, refused, getattr(made, "usage", None))

    def _streamed(
        self, messages: list[dict[str, str]], options: dict[str, Any], shown: Shown
    ) -> Reply:
        """Ask for a reply in pieces, anew where the connection is lost within it."""
        options = dict(options)
        if "stream_options" not in self._untaken:
            options["stream_options"] = {"include_usage": True}
        for attempt in range(self._settings.retries + 1):
            if attempt:
                time.sleep(min(_WAIT * 2 ** (attempt - 1), _LONGEST_WAIT))
            stream = self._client.chat.completions.create(
                model=self.name, messages=messages, stream=True, **options
            )
            pieces = _Pieces()
            with stream:
                for text in pieces.read(stream):
                    shown.show(text)
            if pieces.error is None and pieces.finish is not None:
                shown.show(pieces.text, done=True)
                return _reply(pieces.text, pieces.finish, pieces.refused, pieces.usage)
            if pieces.error is None and not pieces.any:
                # A server that knows no streams replies in one piece, which is none of a stream's.
                self._untaken.add("stream")
                options.pop("stream_options", None)
                made = self._whole(messages, options)
                shown.show(made.text, done=True)
                return made
        raise broken_off(pieces.error, self._url, self._key, self._settings.timeout)

    def _counted(self, made: Reply, length: int) -> Reply:
        """Return the reply with tokens (the server's count, else ours) and cost."""
        read = made.prompt_tokens or length
        written = made.reply_tokens or self.count(made.text)
        cost = None
        prices = (self._settings.price_prompt, self._settings.price_reply)
        if any(price is not None for price in prices):
            cost = (read * (prices[0] or 0.0) + written * (prices[1] or 0.0)) / 1e6
        return replace(made, prompt_tokens=read, reply_tokens=written, cost=cost)

    def _error(self, error: Exception) -> ModelError:
        return in_our_words(
            error, self._url, self.name, self._key, self._settings.timeout, self._settings.with_key
        )


class _Pieces:
    """What a stream brought: the text so far, why it ended, and what went wrong."""

    def __init__(self) -> None:
        self.text = ""
        self.finish: str | None = None
        self.refused = False
        self.usage: Any = None
        self.any = False
        self.error: Exception | None = None

    def read(self, stream: Any) -> Iterator[str]:
        """Yield the text so far, each time that there is more of it."""
        chunks = iter(stream)
        while True:
            try:
                chunk = next(chunks)
            except StopIteration:
                return
            except Exception as error:
                # The connection, or a piece that is no JSON: what the package raises differs by
                # its version.
                self.error = error
                return
            self.any = True
            self.usage = getattr(chunk, "usage", None) or self.usage
            choices = getattr(chunk, "choices", None)
            if not isinstance(choices, list) or not choices:
                continue
            first = choices[0]
            self.finish = getattr(first, "finish_reason", None) or self.finish
            delta = getattr(first, "delta", None)
            self.refused |= bool(getattr(delta, "refusal", None))
            content = getattr(delta, "content", None)
            if isinstance(content, str) and content:
                self.text += content
                yield self.text


def _reply(said: str, finish: str | None, refused: bool, usage: Any) -> Reply:
    """Return a reply; its text is empty where it was refused or filtered."""
    ended = "refused" if refused else _FINISH.get(finish or "stop", "stop")
    # A reply that was cut off is still evidence to compare with.
    text = "" if ended == "refused" else without_reasoning(said)
    if not text and ended == "stop":
        ended = "empty"
    counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
    read, written = (n if isinstance(n, int) and n > 0 else 0 for n in counts)
    return Reply(text, ended, read, written)


def _key(url: str, settings: LanguageSettings) -> str:
    """Return the key for a server; servers of one's own often need none."""
    if not settings.with_key and os.environ.get(_HEADERS):
        raise ConfigurationError(
            f"the headers in {_HEADERS} would be sent to an address that a project's file names",
            where=url,
            hint="Name the address in OPENAI_BASE_URL or in your own file of settings, or unset "
            f"{_HEADERS}.",
        )
    key = read_key(settings.key_file) if settings.with_key else ""
    if not key and url == DEFAULT_URL:
        raise ConfigurationError(
            "no chat server is named, and OpenAI's needs a key",
            hint="Give --chat-url (or OPENAI_BASE_URL), or set OPENAI_API_KEY.",
        )
    return key


def _client(url: str, key: str, settings: LanguageSettings) -> Any:
    try:
        from openai import OpenAI, Timeout
    except ImportError as error:
        raise ModelError(
            "a chat server needs the package openai",
            hint='Install it: pip install "kgp-neo4j[chat]".',
        ) from error
    seconds = settings.timeout
    return OpenAI(
        base_url=url,
        api_key=key or "none",
        timeout=Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
        max_retries=settings.retries,
    )
