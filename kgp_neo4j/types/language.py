"""The protocol of a language model, its reply, and the usage of its calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, Unpack


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a language model: its text, why it ended, and its tokens.

    `finish` is `stop` (complete), `length` (cut off), `refused` (declined or filtered) or `empty`.
    Tokens are the server's own count, or `estimated`, rather too high.
    """

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cached: bool = False
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What a language model used: calls and tokens, `estimated` where not all are counted."""

    model: str
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: bool = False


class ReplyOptions(TypedDict, total=False):
    """The options of a reply, as `LanguageModel.reply` describes them."""

    tokens: int
    grammar: str
    schema: Mapping[str, Any] | None
    on_text: Callable[[str], None] | None


class LanguageModel(Protocol):
    """A model that writes text: a chat server, a local model, or a scripted one in a test."""

    name: str

    @property
    def context(self) -> int:
        """The number of tokens for prompt and reply together."""

    @property
    def passages(self) -> int | None:
        """The number of passages that a prompt should have at most, None for all that fit."""

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the reply to one prompt; `task` is the system prompt, `tokens` the reply's limit.

        Engines that can keep to `grammar` (GBNF), or to the JSON `schema`. `on_text` is called with
        each piece of the reply while it is written. Raises ModelError where the model cannot be
        used at all; a reply that is refused, cut off or empty has that in `finish`.
        """

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, or an upper bound."""


class Write(Protocol):
    """A language model as a function, from a prompt to the text of its reply."""

    def __call__(self, prompt: str, **options: Unpack[ReplyOptions]) -> str:
        """Return the text of the reply."""
