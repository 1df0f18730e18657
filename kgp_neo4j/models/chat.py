"""A language model behind a server with the OpenAI protocol (`/chat/completions`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kgp_neo4j.configuration import LanguageSettings, checked_url
from kgp_neo4j.errors import ContextError, ModelError
from kgp_neo4j.language import Reply
from kgp_neo4j.models.chat_client import DEFAULT_URL, client_of, key_of
from kgp_neo4j.models.chat_errors import (
    broken_off,
    context_of,
    in_our_words,
    not_sent,
    not_the_protocol,
    refused_option,
)
from kgp_neo4j.models.chat_replies import EndlessError, Received, RefusalError
from kgp_neo4j.models.limits import limiter
from kgp_neo4j.models.written import Shown, tokens_at_most, without_reasoning

__all__ = ["DEFAULT_URL", "ChatModel", "without_reasoning"]

#: What a server reads at least, where neither it nor the settings say more.
_CONTEXT = 8192
#: Tokens that a chat's form takes besides its texts.
_FORM = 16
#: Room that is worth asking for, where the context leaves less than was wanted.
_LEAST_ROOM = 128
#: The first wait after a connection that was lost within a reply; each further one is twice that.
_WAIT = 0.5
_LONGEST_WAIT = 8.0


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
        self._key = key_of(self._url, settings)
        self._client = client_of(self._url, self._key, settings)
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
            if shown is not None and "stream" not in self._untaken:
                options |= self._taken({"stream": True, "stream_options": {"include_usage": True}})
            try:
                made = self._asked(messages, options, shown, length + wanted)
            except (openai.APIStatusError, RefusalError) as error:
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
        return self._taken(options)

    def _taken(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options that the model was not found to refuse."""
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
        name = refused_option(error, list(options))
        if name is None:
            raise self._error(error) from None
        self._untaken.add(name)

    def _asked(
        self,
        messages: list[dict[str, str]],
        options: dict[str, Any],
        shown: Shown | None,
        tokens: int,
    ) -> Reply:
        """Ask for a reply, anew where the connection is lost within it."""
        received = Received()
        for attempt in range(self._settings.retries + 1):
            if attempt:
                time.sleep(min(_WAIT * 2 ** (attempt - 1), _LONGEST_WAIT))
            self._limiter.wait(tokens)
            received = Received()
            with self._sent(messages, options) as answer:
                for text in received.read(answer.iter_bytes(), self._settings.timeout):
                    if shown is not None:
                        shown.show(text)
            error = received.error
            # What is lost after the end was not needed.
            if received.finish is not None:
                if shown is not None:
                    shown.show(received.text, done=True)
                return received.reply()
            if isinstance(error, RefusalError) and context_of(error) is not None:
                raise error
            if isinstance(error, EndlessError):
                break
            if error is None and not received.any:
                raise not_the_protocol(self._url)
        raise broken_off(received.error, self._url, self._key, self._settings.timeout)

    @contextmanager
    def _sent(self, messages: list[dict[str, str]], options: dict[str, Any]) -> Iterator[Any]:
        """Send a request; the answer's bytes are read within the context."""
        import openai

        create = self._client.chat.completions.with_streaming_response.create
        sent = create(model=self.name, messages=messages, **options)
        try:
            answer = sent.__enter__()
        except openai.OpenAIError:
            raise
        except ValueError as error:
            raise not_sent(error, self._url) from None
        except Exception as error:
            # The package lets what breaks while it reads a refusal through, as its connection says.
            raise broken_off(error, self._url, self._key, self._settings.timeout) from None
        try:
            yield answer
        finally:
            sent.__exit__(None, None, None)

    def _counted(self, made: Reply, length: int) -> Reply:
        """Return the reply with tokens (the server's count, else ours) and cost."""
        read, written = made.prompt_tokens or length, made.reply_tokens
        cost = None
        prices = (self._settings.price_prompt, self._settings.price_reply)
        if any(price is not None for price in prices):
            cost = (read * (prices[0] or 0.0) + written * (prices[1] or 0.0)) / 1e6
        return replace(made, prompt_tokens=read, cost=cost)

    def _error(self, error: Exception) -> ModelError:
        return in_our_words(
            error, self._url, self.name, self._key, self._settings.timeout, self._settings.with_key
        )
