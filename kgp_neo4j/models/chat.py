"""A language model behind a server with the OpenAI protocol (`/chat/completions`)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from kgp_neo4j.errors import ConfigurationError, ModelError

__all__ = ["ChatModel", "without_reasoning"]

_DEFAULT_URL = "https://api.openai.com/v1"
_TIMEOUT = 120.0
#: Tries after the first one, with growing waits, where the server is busy or fails (429, 5xx).
_RETRIES = 4
_AT_ONCE = 4
#: Room for a few sentences, and for the reasoning that some models put before them.
_TOKENS = 1024
#: What some models write before their reply: their own reasoning.
_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)


class ChatModel:
    """A model of a chat server: `url`, else OPENAI_BASE_URL, else OpenAI's own.

    Its key comes from OPENAI_API_KEY alone. A reply that is refused, filtered or empty is an empty
    text; ModelError is raised where the server cannot be used at all.
    """

    def __init__(
        self, name: str, *, url: str | None = None, temperature: float = 0.0, seed: int = 0
    ) -> None:
        self.name = name
        self._url = _checked(url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL)
        self._key = _key(self._url)
        self._client = _client(self._url, self._key)
        self._options: dict[str, Any] = {
            "temperature": temperature,
            "seed": seed,
            "max_tokens": _TOKENS,
        }

    def replies(self, task: str, prompts: Sequence[str]) -> list[str]:
        """Return the reply to each prompt, a few asked for at once; `task` is the system prompt."""
        pool = ThreadPoolExecutor(min(_AT_ONCE, len(prompts)) or 1)
        try:
            return list(pool.map(lambda prompt: self.reply(task, prompt), prompts))
        finally:
            pool.shutdown(cancel_futures=True)

    def reply(self, task: str, prompt: str) -> str:
        """Return the reply to one prompt; a setting that the model does not take is left out."""
        import openai

        messages = [{"role": "system", "content": task}] if task else []
        messages.append({"role": "user", "content": prompt})
        while True:
            options = dict(self._options)
            try:
                made = self._client.chat.completions.create(
                    model=self.name, messages=messages, **options
                )
                return _text(made, self._url)
            except openai.BadRequestError as error:
                if error.param not in options:
                    raise self._error(error) from None
                self._options = _without(options, error.param)
            except openai.OpenAIError as error:
                # Without the chain, whose request carries the key.
                raise self._error(error) from None

    def _error(self, error: Exception) -> ModelError:
        """Return what went wrong in our words, and what the server said of it."""
        import openai

        status = error.status_code if isinstance(error, openai.APIStatusError) else None
        if status in (401, 403):
            return ModelError(
                f"the chat server refused the key ({status})",
                where=self._url,
                hint="Set OPENAI_API_KEY to a key of this server.",
            )
        if status == 404:
            return ModelError(
                f"the chat server has no model {self.name!r}, or this is not its address (404)",
                where=self._url,
                hint="Check --model and --chat-url, which most servers want to end in /v1.",
            )
        if status == 429:
            what, hint = "has no room for more requests (429)", "Wait, or see your quota."
        elif status is not None and status >= 500:
            what, hint = f"failed ({status})", "See its log, or try again later."
        elif status is not None:
            what = f"refused the request ({status}: {self._said(error)})"
            hint = "See what its model takes."
        elif isinstance(error, openai.APITimeoutError):
            what, hint = f"gave no reply within {_TIMEOUT:.0f} s", "Use a quicker model."
        elif isinstance(error, openai.APIConnectionError):
            what, hint = "cannot be reached", "Start it, or check --chat-url."
        else:
            what = f"did not reply in the OpenAI protocol ({type(error).__name__})"
            hint = "Check --chat-url, which most servers want to end in /v1."
        return ModelError(f"the chat server {what}", where=self._url, hint=hint)

    def _said(self, error: Exception) -> str:
        said = " ".join(str(getattr(error, "message", error)).split())[:300]
        return said.replace(self._key, "***") if self._key else said


def _text(made: Any, url: str) -> str:
    """Return the text of a reply; empty for one that was refused or filtered."""
    choices = getattr(made, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(first, "message", None)
    if first is None or message is None:
        raise ModelError(
            "the chat server did not reply in the OpenAI protocol",
            where=url,
            hint="Check --chat-url, which most servers want to end in /v1.",
        )
    if first.finish_reason == "content_filter" or getattr(message, "refusal", None):
        return ""
    # A reply that was cut off is still evidence to compare with.
    return without_reasoning(message.content) if isinstance(message.content, str) else ""


def _without(options: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the options without one that the model does not take, or under its newer name."""
    rest = {key: value for key, value in options.items() if key != name}
    return rest | {"max_completion_tokens": _TOKENS} if name == "max_tokens" else rest


def _checked(url: str) -> str:
    """Return the address if it is one that can be shown; raise ConfigurationError otherwise."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError(
            "the chat server's address is no http address",
            hint="Give one like http://127.0.0.1:8000/v1.",
        )
    if parts.username or parts.password or parts.query:
        raise ConfigurationError(
            "the chat server's address holds a user, a password or a query",
            hint="Give the address alone, and the key in OPENAI_API_KEY.",
        )
    return url.strip().rstrip("/")


def _key(url: str) -> str:
    """Return the key of the environment; servers of one's own often need none."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    # Headers with other characters are refused with a message that holds the key.
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError("OPENAI_API_KEY holds characters that no key has")
    if not key and url == _DEFAULT_URL:
        raise ConfigurationError(
            "no chat server is named, and OpenAI's needs a key",
            hint="Give --chat-url (or OPENAI_BASE_URL), or set OPENAI_API_KEY.",
        )
    return key


def _client(url: str, key: str) -> Any:
    try:
        from openai import OpenAI
    except ImportError as error:
        raise ModelError(
            "a chat server needs the package openai",
            hint='Install it: pip install "kgp-neo4j[chat]".',
        ) from error
    return OpenAI(base_url=url, api_key=key or "none", timeout=_TIMEOUT, max_retries=_RETRIES)


def without_reasoning(text: str) -> str:
    """Return what a model wrote without the reasoning that some put before their reply."""
    # Half a surrogate pair, from bytes cut in two, is no text for a database.
    return _REASONING.sub(" ", text).encode(errors="ignore").decode().strip()
