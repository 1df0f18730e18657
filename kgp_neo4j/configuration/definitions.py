"""The settings there are, and the values that they take."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kgp_neo4j.errors import ConfigurationError

__all__ = [
    "BY_NAME",
    "SETTINGS",
    "Held",
    "LanguageSettings",
    "Setting",
    "Source",
    "from_text",
    "valued",
]

Kind = Literal["text", "count", "number", "cache", "file"]
Source = Literal["option", "environment", "project", "named", "user", "default"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in a file, its variable, what it takes, and its default."""

    name: str
    variable: str
    kind: Kind
    help: str
    default: Any = None
    least: float = 0
    most: float = 1e9
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """The value that a setting has, and where from: a variable, or a file and line."""

    value: Any
    source: Source = "default"
    where: str = ""


SETTINGS: tuple[Setting, ...] = (
    Setting("llm.model", "KGP_NEO4J_LLM", "text", "NAME of a chat server, local:FOLDER, or none"),
    Setting(
        "llm.url", "OPENAI_BASE_URL", "text", "address of the chat server (default: OpenAI's own)"
    ),
    Setting("llm.key_file", "OPENAI_API_KEY_FILE", "file", "file of mode 0600 that holds its key"),
    Setting(
        "llm.temperature",
        "KGP_NEO4J_LLM_TEMPERATURE",
        "number",
        "above 0, replies are drawn",
        0.0,
        most=2,
    ),
    Setting(
        "llm.seed", "KGP_NEO4J_LLM_SEED", "count", "the same seed, the same draw", 0, 0, 2**31 - 1
    ),
    Setting(
        "llm.timeout",
        "KGP_NEO4J_LLM_TIMEOUT",
        "number",
        "seconds to wait for the server's next word",
        120.0,
        0.001,
        86_400,
    ),
    Setting(
        "llm.retries", "KGP_NEO4J_LLM_RETRIES", "count", "tries after the first one", 4, 0, 100
    ),
    Setting(
        "llm.requests_per_minute",
        "KGP_NEO4J_LLM_REQUESTS_PER_MINUTE",
        "count",
        "requests a minute at most",
        None,
        1,
    ),
    Setting(
        "llm.tokens_per_minute",
        "KGP_NEO4J_LLM_TOKENS_PER_MINUTE",
        "count",
        "tokens a minute at most",
        None,
        1,
    ),
    Setting(
        "llm.context",
        "KGP_NEO4J_LLM_CONTEXT",
        "count",
        "tokens of prompt and reply together",
        None,
        64,
    ),
    Setting(
        "llm.max_tokens",
        "KGP_NEO4J_LLM_MAX_TOKENS",
        "count",
        "tokens of a reply, for every command",
        None,
        1,
    ),
    Setting(
        "llm.price_prompt",
        "KGP_NEO4J_LLM_PRICE_PROMPT",
        "number",
        "price of a million tokens that are read",
        None,
        0,
    ),
    Setting(
        "llm.price_reply",
        "KGP_NEO4J_LLM_PRICE_REPLY",
        "number",
        "price of a million tokens that are written",
        None,
        0,
    ),
    Setting(
        "llm.cache",
        "KGP_NEO4J_LLM_CACHE",
        "cache",
        "on, off, or the folder that replies are kept in",
        True,
    ),
    Setting("ask.corpus", "KGP_NEO4J_CORPUS", "text", "the corpus that is asked"),
    Setting("ask.graph", "KGP_NEO4J_GRAPH", "text", "the knowledge graph that is asked"),
    Setting(
        "ask.agent",
        "KGP_NEO4J_AGENT",
        "text",
        "who chooses the next evidence",
        choices=("learned", "random", "tfidf", "knn", "mdr", "t5", "llama", "chat"),
    ),
    Setting("ask.budget", "KGP_NEO4J_BUDGET", "count", "distinct passages at most", 30, 1),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """Which language model, and how it is asked.

    `timeout` is in seconds, prices are for a million tokens, `cache` is the folder that replies are
    kept in (None: they are not). `with_key` is False where the address comes from a project's file,
    which may be a stranger's: the user's key is not sent there.
    """

    model: str | None = None
    url: str | None = None
    temperature: float = 0.0
    seed: int = 0
    timeout: float = 120.0
    retries: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    context: int | None = None
    max_tokens: int | None = None
    price_prompt: float | None = None
    price_reply: float | None = None
    cache: Path | None = None
    key_file: Path | None = field(default=None, repr=False)
    with_key: bool = True


def from_text(setting: Setting, said: str) -> Any:
    """Return a variable's text as the value that a file would have; itself where it is none."""
    try:
        if setting.kind == "count":
            return int(said)
        if setting.kind == "number":
            return float(said)
    except ValueError:
        return said
    return said


def valued(setting: Setting, value: Any, where: str, folder: Path) -> Any:
    """Return a value as its setting takes it; paths are seen from `folder`.

    Raises ConfigurationError for one that it does not take.
    """
    if setting.kind in ("count", "number"):
        return _number(setting, value, where)
    if setting.kind == "cache" and isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        what = "on, off or the name of a folder" if setting.kind == "cache" else "a text"
        raise _wrong(setting, what, where)
    said = value.strip()
    if setting.choices and said not in setting.choices:
        raise _wrong(setting, f"one of {', '.join(setting.choices)}", where)
    if setting.kind == "cache" and said.lower() in ("on", "off"):
        return said.lower() == "on"
    if setting.kind in ("cache", "file"):
        try:
            return folder / Path(said).expanduser()
        except RuntimeError:  # ~nobody
            raise _wrong(setting, "a path", where) from None
    return said


def _number(setting: Setting, value: Any, where: str) -> int | float:
    whole = setting.kind == "count"
    least, most = setting.least, setting.most
    if type(value) not in ((int,) if whole else (int, float)) or not least <= value <= most:
        bounds = f" from {least:g} to {most:,.0f}"
        raise _wrong(setting, f"a {'whole ' if whole else ''}number{bounds}", where)
    return int(value) if whole else float(value)


def _wrong(setting: Setting, what: str, where: str) -> ConfigurationError:
    return ConfigurationError(
        f"{setting.name} has to be {what}", where=where, hint=f"It is: {setting.help}."
    )
