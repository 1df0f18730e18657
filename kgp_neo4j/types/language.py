"""The protocol of a language model, its reply, and what its replies took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["LanguageModel", "ModelWrapper", "Reply", "Usage"]


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a language model: its text, why it ended, its tokens and its cost.

    `finish` is `stop` (it was done), `length` (cut off), `refused` (declined or filtered) or
    `empty`. Tokens are the server's own count; where it does not tell they are rather too high, and
    `estimated` is True. `cost` is in the currency of the prices that were configured, None without
    them. A `cached` reply took nothing.
    """

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float | None = None
    cached: bool = False
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What the language model took for an answer: calls, tokens, and the cost where it is known.

    Tokens, and with them the cost, are `estimated` where a server did not count all of them.
    """

    model: str
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float | None = None
    estimated: bool = False


class LanguageModel(Protocol):
    """A model that writes: a chat server's, a local one, or a scripted one in a test.

    `context` is the number of tokens that prompt and reply may have together.
    """

    name: str
    context: int

    def reply(
        self,
        task: str,
        prompt: str,
        *,
        tokens: int = 1024,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Return the reply to one prompt; `task` is the system prompt, `tokens` the reply's room.

        `on_text` is given the reply piece by piece while it is written. Raises ModelError where the
        model cannot be used at all; a reply that is refused, cut off or empty says so in `finish`.
        """
        ...

    def count(self, text: str) -> int:
        """Return how many tokens a text has, or will have at most."""
        ...


class ModelWrapper:
    """A language model that passes on to another; subclasses write `reply`."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = model.name

    @property
    def context(self) -> int:
        """The tokens that prompt and reply may have together; a server's may turn out smaller."""
        return self._model.context

    @context.setter
    def context(self, tokens: int) -> None:
        """Set the model's context, as a server gave it."""
        self._model.context = tokens

    def count(self, text: str) -> int:
        """Return how many tokens a text has, or will have at most."""
        return self._model.count(text)
