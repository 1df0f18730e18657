"""Defines the settings, and reads their values from the environment and from files."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import platformdirs

from kgp_neo4j.environment.addresses import checked_url, shown_url
from kgp_neo4j.environment.files import read_toml
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.types.corpus import AgentName
from kgp_neo4j.types.errors import ConfigurationError

__all__ = [
    "BY_NAME",
    "FILE",
    "SETTINGS",
    "Configuration",
    "LanguageSettings",
    "Setting",
    "SettingLine",
    "SettingValue",
    "Source",
    "language_settings",
    "read_configuration",
    "replies_folder",
    "setting_lines",
    "user_file",
]

Kind = Literal["text", "count", "number", "cache", "file"]
Source = Literal["option", "environment", "project", "named", "user", "default"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in a file, its variable, the kind of its value, and its default."""

    name: str
    variable: str
    kind: Kind
    help: str
    default: Any = None
    least: float = 0
    most: float = 1e9
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingValue:
    """The value of a setting and its source: a variable, or a file and line."""

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
        choices=get_args(AgentName),
    ),
    Setting("ask.budget", "KGP_NEO4J_BUDGET", "count", "distinct passages at most", 30, 1),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """Which language model to use, and the options of its requests.

    `timeout` is in seconds, prices are for a million tokens, `cache` is the folder of cached
    replies (None: no cache). `with_key` is False where the address comes from a project's file,
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


def _from_text(setting: Setting, text: str) -> Any:
    """Parse a variable's text where the setting is a number; return any other text as it is."""
    kind = {"count": int, "number": float}.get(setting.kind, str)
    try:
        return kind(text)
    except ValueError:
        return text


def _checked_value(setting: Setting, value: Any, where: str, folder: Path) -> Any:
    """Return a setting's value in its type; paths are relative to `folder`.

    Raises ConfigurationError for a value that the setting does not accept.
    """
    if setting.kind in ("count", "number"):
        return _number(setting, value, where)
    if setting.kind == "cache" and isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        expected = "on, off or the name of a folder" if setting.kind == "cache" else "a text"
        raise _wrong_value(setting, expected, where)
    text = value.strip()
    if setting.choices and text not in setting.choices:
        raise _wrong_value(setting, f"one of {', '.join(setting.choices)}", where)
    if setting.kind == "cache" and text.lower() in ("on", "off"):
        return text.lower() == "on"
    if setting.kind in ("cache", "file"):
        try:
            return folder / Path(text).expanduser()
        except RuntimeError:  # the home folder of an unknown user
            raise _wrong_value(setting, "a path", where) from None
    return text


def _number(setting: Setting, value: Any, where: str) -> int | float:
    whole = setting.kind == "count"
    least, most = setting.least, setting.most
    if type(value) not in ((int,) if whole else (int, float)) or not least <= value <= most:
        bounds = f" from {least:g} to {most:,.0f}"
        raise _wrong_value(setting, f"a {'whole ' if whole else ''}number{bounds}", where)
    return int(value) if whole else float(value)


def _wrong_value(setting: Setting, expected: str, where: str) -> ConfigurationError:
    return ConfigurationError(
        f"{setting.name} has to be {expected}", where=where, hint=f"It is: {setting.help}."
    )


# --- Reading the environment and the files ---

#: The name of a project's file; the user's own is `config.toml` in the user's configuration folder.
FILE = "kgp-neo4j.toml"
_APP = "kgp-neo4j"
_FILE_VARIABLE = "KGP_NEO4J_CONFIG"
#: Most bytes of a file of settings, so that a device or a data file is not read by mistake.
_SECRET_KEY = re.compile(r"(api_?)?key|password|secret|token|.*_(key|password|secret|token)")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The values of all settings with their sources, and the files that were read."""

    values: Mapping[str, SettingValue]
    files: tuple[Path, ...] = ()

    def value(self, name: str) -> Any:
        """Return the value of a setting such as `llm.model`."""
        return self.values[name].value


def language_settings(configuration: Configuration | None = None, **given: Any) -> LanguageSettings:
    """Return the settings of language models; values `given` (not None) override them.

    Raises ConfigurationError for an invalid address, where the model needs one.

    >>> language_settings(model="none").model
    'none'
    """
    configuration = configuration or read_configuration()
    chosen = {
        name.removeprefix("llm."): setting.value
        for name, setting in configuration.values.items()
        if name.startswith("llm.")
    }
    url = (
        configuration.values["llm.url"] if given.get("url") is None else SettingValue(given["url"])
    )
    chosen |= {name: value for name, value in given.items() if value is not None}
    if isinstance(chosen["cache"], bool):
        chosen["cache"] = replies_folder() if chosen["cache"] else None
    if url.value and (chosen["model"] or "none").strip().lower() != "none":
        checked_url(url.value, url.where or None)
    return LanguageSettings(**chosen, with_key=url.source != "project")


def replies_folder() -> Path:
    """Return the default folder of cached replies."""
    return Folders.from_environment().cache / "replies"


def read_configuration(
    environ: Mapping[str, str] = os.environ, folder: Path | None = None
) -> Configuration:
    """Read the environment and the files; raises ConfigurationError for an error in them.

    `folder` replaces the working folder.
    """
    values = {setting.name: SettingValue(setting.default) for setting in SETTINGS}
    files: list[Path] = []
    folder = folder or _working_folder()
    for path, source in _files(environ, folder):
        files.insert(0, path)
        values |= _read(path, source)
    for setting in SETTINGS:
        text = environ.get(setting.variable, "").strip()
        if text:
            value = _checked_value(setting, _from_text(setting, text), setting.variable, folder)
            values[setting.name] = SettingValue(value, "environment", setting.variable)
    return Configuration(values, tuple(files))


def _working_folder() -> Path:
    """Return the working folder, or the home folder where it has been deleted."""
    try:
        return Path.cwd()
    except OSError:
        return Path.home()


def user_file() -> Path:
    """Return the path of the user's own file of settings, which may not exist."""
    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / "config.toml"


def _files(environ: Mapping[str, str], folder: Path) -> Iterator[tuple[Path, Source]]:
    """Yield the files of settings, those that are overridden first."""
    user = user_file()
    if user.is_file():
        yield user, "user"
    named = environ.get(_FILE_VARIABLE)
    if named is not None:
        # Empty, or the null device: no project file is read.
        path = Path(named).expanduser()
        if named.strip() and path != Path(os.devnull):
            if not path.is_file():
                raise ConfigurationError(
                    f"{_FILE_VARIABLE} names no file",
                    where=str(path),
                    hint=f"Change {_FILE_VARIABLE}, or unset it.",
                )
            yield path.absolute(), "named"
        return
    for place in (folder.absolute(), *folder.absolute().parents):
        path = place / FILE
        if path.is_file():
            _check_owner(path)
            yield path, "project"
            return
        if place == Path.home():
            return


def _check_owner(path: Path) -> None:
    """Raise ConfigurationError for a file that others may have written, such as one in /tmp."""
    if not hasattr(os, "getuid"):
        return
    found = path.stat()
    if found.st_uid not in (os.getuid(), 0) or found.st_mode & stat.S_IWOTH:
        raise ConfigurationError(
            "this file of settings belongs to someone else, or everybody may write to it",
            where=str(path),
            hint=f"Delete it, make it yours, or name it in {_FILE_VARIABLE} if you trust it.",
        )


def _read(path: Path, source: Source) -> dict[str, SettingValue]:
    """Return the settings of a file, each with its line."""
    try:
        text, sections = read_toml(path, 'A line reads like: model = "gpt-4o-mini".')
    except OSError as error:
        raise ConfigurationError(
            f"the settings cannot be read ({error.strerror})",
            where=str(path),
            hint="Change its permissions, or delete it.",
        ) from error
    found = {}
    for section, values in sections.items():
        if not isinstance(values, dict):
            raise _unknown(section, f"{path}:{_line(text, '', section)}")
        for key, value in values.items():
            where = f"{path}:{_line(text, section, key)}"
            setting = BY_NAME.get(f"{section}.{key}")
            if setting is None:
                raise _unknown(f"{section}.{key}", where)
            if setting.name == "llm.key_file" and source == "project":
                raise ConfigurationError(
                    "a project's file may not say which file the key is in",
                    where=where,
                    hint=f"Set OPENAI_API_KEY_FILE, or write it into {user_file()}.",
                )
            found[setting.name] = SettingValue(
                _checked_value(setting, value, where, path.parent), source, where
            )
    return found


def _line(text: str, section: str, key: str) -> int:
    """Return the line of a key, found by matching the text line by line; 1 if not found."""
    here, best = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\s*\"?([\w-]+)", line)
        if header:
            here = header[1]
            if here == section or (not section and here == key):
                best = number
        words = re.match(r"\s*([\w\"'. -]+?)\s*=", line)
        name = re.sub(r"[\"'\s]", "", words[1]) if words else ""
        if f"{name}.".startswith(f"{key if here == section else f'{section}.{key}'}."):
            return number
        if section and not here and name == section and key in line:
            return number
    return best


def _unknown(name: str, where: str) -> ConfigurationError:
    """Return the error for an unknown setting; its value may be a key and is not shown."""
    if _SECRET_KEY.fullmatch(name.rpartition(".")[2].lower()):
        return ConfigurationError(
            f"{name}: keys and passwords do not belong in a file of settings",
            where=where,
            hint="Delete the line, and set OPENAI_API_KEY, or OPENAI_API_KEY_FILE to a file of "
            "mode 0600.",
        )
    section, _, key = name.rpartition(".")
    keys = {known.partition(".")[2]: known for known in BY_NAME if known.startswith(f"{section}.")}
    near = [keys[found] for found in difflib.get_close_matches(key, keys, 1, 0.7)]
    # The section may be wrong or missing.
    near = near or difflib.get_close_matches(name, BY_NAME, 1, 0.8)
    near = near or [known for known in BY_NAME if known.endswith(f".{key}")]
    listed = ", ".join(keys.values() or BY_NAME)
    hint = f"Did you mean {near[0]}?" if near else f"There are {listed}."
    return ConfigurationError(f"there is no setting {name}", where=where, hint=hint)


# --- The lines of `config`, without keys and passwords ---

#: Variables that hold a secret: only whether they are set is shown.
_SECRET_VARIABLES = {
    "llm.key": "OPENAI_API_KEY",
    "neo4j.password": "NEO4J_PASSWORD",
    "load.pdf_password": "KGP_NEO4J_PDF_PASSWORD",
    "connect.linker_token": "GCUBE_TOKEN",
}
#: Variables of the database and the folders, with their defaults.
_OTHER_VARIABLES = {
    "neo4j.uri": ("NEO4J_URI", "the embedded database"),
    "neo4j.username": ("NEO4J_USERNAME", "neo4j"),
    "neo4j.database": ("NEO4J_DATABASE", "neo4j"),
    "server.allow_files": ("KGP_NEO4J_ALLOW_FILES", None),
    "folders.maven_mirror": ("KGP_NEO4J_MAVEN_MIRROR", None),
}


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One line: a setting, its value, and its source, with the variable or the file and line."""

    name: str
    value: str | int | float | bool | None
    source: str
    where: str


def setting_lines(
    configuration: Configuration, environ: Mapping[str, str] = os.environ
) -> list[SettingLine]:
    """Return a line for every setting, in the order of the documentation."""
    folders = Folders.from_environment(environ=environ)
    lines = [
        SettingLine(name, _readable(name, setting.value), setting.source, setting.where)
        for name, setting in configuration.values.items()
    ]
    for name, (variable, default) in _OTHER_VARIABLES.items():
        text = environ.get(variable, "").strip()
        lines.append(
            _variable_line(name, shown_url(text) if text else default, variable, bool(text))
        )
    for name, variable, folder in (
        ("folders.home", "KGP_NEO4J_HOME", folders.home),
        ("folders.cache", "KGP_NEO4J_CACHE", folders.cache),
    ):
        lines.append(_variable_line(name, str(folder), variable, bool(environ.get(variable))))
    for name, variable in _SECRET_VARIABLES.items():
        text = environ.get(variable, "")
        lines.append(
            _variable_line(name, f"set in {variable}" if text else None, variable, bool(text))
        )
    file = configuration.values["llm.key_file"]
    if file.value is not None:
        lines = [
            replace(line, value=f"in {file.value}", source=file.source, where=file.where)
            if line.name == "llm.key" and line.value is None
            else line
            for line in lines
        ]
    return lines


def _variable_line(name: str, value: str | None, variable: str, is_set: bool) -> SettingLine:
    return SettingLine(
        name, value, "environment" if is_set else "default", variable if is_set else ""
    )


def _readable(name: str, value: str | int | float | bool | None) -> str | int | float | bool | None:
    if name == "llm.url" and isinstance(value, str):
        return shown_url(value)
    return value if isinstance(value, bool | int | float) or value is None else str(value)
