"""Reads the settings of language models and of asking from environment and file; checks questions.

A setting is declared once, as a field of `LanguageSettings` (section `llm`) or `AskSettings`
(section `ask`): its default, variable, help, and what its value may be.
"""

import difflib
import os
import re
from contextlib import suppress
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import platformdirs

from kgp_neo4j.environment.files import expanded, read_toml
from kgp_neo4j.environment.folders import Folders, checked_url, shown_url
from kgp_neo4j.plugins import plugged
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.settings import setting

_MOST = 10**9
_SWITCH = {"on": True, "off": False, "true": True, "false": False}
#: Most characters of a question; those of a dialogue count together.
LONGEST_QUESTION = 10_000
#: Characters of one that are read for names, parts, pages and tables; a longer one is pasted text.
LONGEST_ASKED = 1_000


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """Which language model; `timeout` in seconds, `cache` a folder of replies (None: no cache)."""

    model: str | None = setting(
        None, "NAME of a chat server, local:FILE.gguf, auto, or none", variable="KGP_NEO4J_LLM"
    )
    url: str | None = setting(
        None, "address of the chat server (default: OpenAI's own)", variable="OPENAI_BASE_URL"
    )
    file: Path | None = setting(None, "a model's GGUF file, for model = auto")
    key_file: Path | None = setting(
        None, "file of mode 0600 that holds its key", variable="OPENAI_API_KEY_FILE", secret=True
    )
    temperature: float = setting(0.0, "above 0, replies are drawn", bounds=(0, 2))
    seed: int = setting(0, "the same seed, the same draw", bounds=(0, 2**31 - 1))
    timeout: float = setting(
        120.0, "seconds to wait for the server's next word", bounds=(0.001, 86_400)
    )
    retries: int = setting(4, "tries after the first one", bounds=(0, 100))
    context: int | None = setting(None, "tokens of prompt and reply together", bounds=(64, _MOST))
    max_tokens: int | None = setting(None, "tokens of a reply", bounds=(1, _MOST))
    passages: int | None = setting(None, "passages of a prompt at most", bounds=(1, 1000))
    cache: Path | None = setting(None, "on, off, or the folder of cached replies")


@dataclass(frozen=True, slots=True)
class AskSettings:
    """What the commands that ask take where they have no option for it."""

    corpus: str | None = setting(None, "the corpus that is asked")
    graph: str | None = setting(None, "the knowledge graph that is asked")
    agent: str | None = setting(None, "who chooses the next passages")
    budget: int = setting(30, "distinct passages at most", bounds=(1, 1000))
    history: bool = setting(False, "true keeps questions and answers, as --trace does")


#: The field of every setting, by its name in files.
SETTINGS: dict[str, Field[Any]] = {
    f"{section}.{each.name}": each
    for section, declared in (("llm", LanguageSettings), ("ask", AskSettings))
    for each in fields(declared)
}


@dataclass(frozen=True, slots=True)
class SettingValue:
    """The value of a setting and its source: a variable, or a file and line."""

    name: str
    value: Any
    source: Literal["environment", "file", "default"] = "default"
    where: str = ""


def language_settings(**given: Any) -> LanguageSettings:
    """Return the settings of language models; values `given` (not None) override them.

    Raises ConfigurationError for an invalid address, where the model needs one.

    >>> language_settings(model="none").model
    'none'
    """
    values = read_configuration()
    chosen = {n.removeprefix("llm."): v.value for n, v in values.items() if n.startswith("llm.")}
    chosen |= {name: value for name, value in given.items() if value is not None}
    if isinstance(chosen["cache"], bool):
        chosen["cache"] = replies_folder() if chosen["cache"] else None
    if chosen["url"] and (chosen["model"] or "none").strip().lower() != "none":
        checked_url(chosen["url"], None if given.get("url") else values["llm.url"].where)
    return LanguageSettings(**chosen)


def variable_of(name: str) -> str:
    """Return the environment variable of a setting such as `llm.model`."""
    derived = "KGP_NEO4J_" + name.removeprefix("ask.").replace(".", "_").upper()
    return SETTINGS[name].metadata["variable"] or derived


def replies_folder() -> Path:
    """Return the default folder of cached replies."""
    return Folders.from_environment().cache / "replies"


def _checked_value(name: str, value: Any, where: str, folder: Path) -> Any:
    """Return a setting's value in its type, paths relative to `folder`; ConfigurationError else."""
    declared, is_cache = SETTINGS[name], name == "llm.cache"
    kind = next(iter(get_args(declared.type)), declared.type)
    bounds = declared.metadata["bounds"]
    choices = plugged("agent") if name == "ask.agent" else declared.metadata["choices"]
    text = value.strip() if isinstance(value, str) and value.isprintable() else ""
    expected = f"one of {', '.join(choices)}" if choices else "a text"
    if bounds:
        words = "whole number" if kind is int else "number"
        expected = f"a {words} from {bounds[0]:g} to {bounds[1]:,.0f}"
        with suppress(msgspec.ValidationError):
            # A variable holds a number as a text.
            number = msgspec.convert(value, kind, strict=where != variable_of(name))
            if bounds[0] <= number <= bounds[1]:
                return number
    elif is_cache or kind is bool:
        expected = "on, off or the name of a folder" if is_cache else "true or false"
        if (switch := _SWITCH.get(str(value).strip().lower())) is not None:
            return switch
    if kind is Path and text:
        with suppress(InputError):  # the home folder of an unknown user
            return folder / expanded(text)
    elif kind is str and text and (text in choices or not choices):
        return text
    hint = f"It is: {declared.metadata['help']}."
    raise ConfigurationError(f"{name} has to be {expected}", where=where, hint=hint)


_FILE_VARIABLE = "KGP_NEO4J_CONFIG"
_SECRET_KEY = re.compile(r"(api_?)?key|password|secret|token|.*_(key|password|secret|token)")


def read_configuration() -> dict[str, SettingValue]:
    """Return all settings by the environment and the file; ConfigurationError for what is wrong."""
    values = {name: SettingValue(name, each.default) for name, each in SETTINGS.items()}
    values["llm.cache"] = SettingValue("llm.cache", True)
    path = settings_file()
    if path is not None and path.is_file():
        values |= _read_file(path)
    for name in SETTINGS:
        variable = variable_of(name)
        if text := os.environ.get(variable, "").strip():
            value = _checked_value(name, text, variable, Path.cwd())
            values[name] = SettingValue(name, value, "environment", variable)
    return values


def settings_file() -> Path | None:
    """Return the path of the file of settings: the one KGP_NEO4J_CONFIG names, else the user's own.

    The latter may not exist; None where that variable is empty or the null device. Raises
    ConfigurationError where it names no file.
    """
    named = os.environ.get(_FILE_VARIABLE)
    if named is None:
        return Path(platformdirs.user_config_dir("kgp-neo4j", appauthor=False)) / "config.toml"
    path = expanded(named)
    if not named.strip() or path == Path(os.devnull):
        return None
    if not path.is_file():
        hint = f"Change {_FILE_VARIABLE}, or unset it."
        raise ConfigurationError(f"{_FILE_VARIABLE} names no file", where=str(path), hint=hint)
    return path.absolute()


def _read_file(path: Path) -> dict[str, SettingValue]:
    """Return the settings of a file, each with its line."""
    try:
        text, sections = read_toml(path, 'A line reads like: model = "gpt-4o-mini".')
    except OSError as error:
        what = f"the settings cannot be read ({error.strerror})"
        hint = "Change its permissions, or delete it."
        raise ConfigurationError(what, where=str(path), hint=hint) from error
    values = {}
    for section, entries in sections.items():
        if not isinstance(entries, dict):
            raise _unknown(section, f"{path}:{_line(text, '', section)}")
        for key, value in entries.items():
            name, where = f"{section}.{key}", f"{path}:{_line(text, section, key)}"
            if name not in SETTINGS:
                raise _unknown(name, where)
            checked = _checked_value(name, value, where, path.parent)
            values[name] = SettingValue(name, checked, "file", where)
    return values


def _line(text: str, section: str, key: str) -> int:
    """Return the line of a key in its section of a TOML file; 1 if not found."""
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*\"?([\w-]+)", line):
            here = header[1]
        if here in ("", section) and re.match(rf"\s*(\w+\.)*[\"']?{re.escape(key)}\b", line):
            return number
    return 1


def _unknown(name: str, where: str) -> ConfigurationError:
    """Return the error for an unknown setting; its value may be a key and is not shown."""
    section, _, key = name.rpartition(".")
    if _SECRET_KEY.fullmatch(key.lower()):
        return ConfigurationError(
            f"{name}: keys and passwords do not belong in a file of settings",
            where=where,
            hint="Delete the line, and set OPENAI_API_KEY, or OPENAI_API_KEY_FILE to a file of "
            "mode 0600.",
        )
    near = [known for known in SETTINGS if known.endswith(f".{key}")]
    near = near or difflib.get_close_matches(name, SETTINGS, 1, 0.8)
    listed = [known for known in SETTINGS if known.startswith(f"{section}.")] or list(SETTINGS)
    hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(listed)}."
    return ConfigurationError(f"there is no setting {name}", where=where, hint=hint)


#: Other variables, each with its default; of a secret (None) is only said whether it is set.
_OTHERS = {
    "neo4j.uri": ("NEO4J_URI", "the embedded database"),
    "neo4j.username": ("NEO4J_USERNAME", "neo4j"),
    "neo4j.database": ("NEO4J_DATABASE", "neo4j"),
    "server.allow_files": ("KGP_NEO4J_ALLOW_FILES", ""),
    "folders.maven_mirror": ("KGP_NEO4J_MAVEN_MIRROR", ""),
    "folders.home": ("KGP_NEO4J_HOME", ""),
    "folders.cache": ("KGP_NEO4J_CACHE", ""),
    "llm.key": ("OPENAI_API_KEY", None),
    "neo4j.password": ("NEO4J_PASSWORD", None),
    "load.pdf_password": ("KGP_NEO4J_PDF_PASSWORD", None),
}


def setting_lines() -> list[SettingValue]:
    """Return every setting as it may be shown, in the order of the documentation."""
    lines, folders = read_configuration(), Folders.from_environment()
    url, key_file = lines["llm.url"], lines["llm.key_file"]
    lines["llm.url"] = replace(url, value=url.value and shown_url(url.value))
    for name, (variable, default) in _OTHERS.items():
        lines[name] = SettingValue(name, default or None)
        if text := os.environ.get(variable, "").strip():
            shown = f"set in {variable}" if default is None else shown_url(text)
            lines[name] = SettingValue(name, shown, "environment", variable)
    for name, folder in (("folders.home", folders.home), ("folders.cache", folders.cache)):
        lines[name] = replace(lines[name], value=str(folder))
    if key_file.value and lines["llm.key"].value is None:
        lines["llm.key"] = replace(key_file, name="llm.key", value=f"in {key_file.value}")
    return list(lines.values())


def check_question(question: str) -> None:
    """Raise ConfigurationError for a question that is too long or not Unicode text."""
    if len(question) > LONGEST_QUESTION:
        hint = f"Ask with {LONGEST_QUESTION:,} at most, and load longer texts as documents."
        raise ConfigurationError(f"the question has {len(question):,} characters", hint=hint)
    if not is_storable(question):
        raise ConfigurationError("the question is not valid Unicode", hint="Use UTF-8.")
