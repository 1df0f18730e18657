"""Reads the settings of language models and of asking from the environment and from files.

A setting is declared once, as a field of `LanguageSettings` (section `llm`) or `AskSettings`
(section `ask`): its default, variable, help, and what its value may be.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import platformdirs

from kgp_neo4j.environment.addresses import checked_url, shown_url
from kgp_neo4j.environment.files import read_toml
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.types.checks import setting
from kgp_neo4j.types.corpus import AgentName
from kgp_neo4j.types.errors import ConfigurationError

__all__ = [
    "FILE",
    "SETTINGS",
    "AskSettings",
    "Configuration",
    "LanguageSettings",
    "SettingValue",
    "Source",
    "language_settings",
    "read_configuration",
    "replies_folder",
    "setting_lines",
    "user_file",
    "variable_of",
]

Source = Literal["option", "environment", "project", "named", "user", "default"]
_MOST = 10**9


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """Which language model to use, and the options of its requests.

    `timeout` is in seconds, prices are for a million tokens, `cache` is the folder of cached
    replies (None: no cache). `with_key` is False where the address comes from a project's file,
    which may be a stranger's: the user's key is not sent there.
    """

    model: str | None = setting(
        None, "NAME of a chat server, local:FOLDER, or none", variable="KGP_NEO4J_LLM"
    )
    url: str | None = setting(
        None, "address of the chat server (default: OpenAI's own)", variable="OPENAI_BASE_URL"
    )
    key_file: Path | None = setting(
        None, "file of mode 0600 that holds its key", variable="OPENAI_API_KEY_FILE", secret=True
    )
    temperature: float = setting(0.0, "above 0, replies are drawn", bounds=(0, 2))
    seed: int = setting(0, "the same seed, the same draw", bounds=(0, 2**31 - 1))
    timeout: float = setting(
        120.0, "seconds to wait for the server's next word", bounds=(0.001, 86_400)
    )
    retries: int = setting(4, "tries after the first one", bounds=(0, 100))
    requests_per_minute: int | None = setting(None, "requests a minute", bounds=(1, _MOST))
    tokens_per_minute: int | None = setting(None, "tokens a minute", bounds=(1, _MOST))
    context: int | None = setting(None, "tokens of prompt and reply together", bounds=(64, _MOST))
    max_tokens: int | None = setting(None, "tokens of a reply", bounds=(1, _MOST))
    price_prompt: float | None = setting(None, "price of 1M tokens read", bounds=(0, _MOST))
    price_reply: float | None = setting(None, "price of 1M tokens written", bounds=(0, _MOST))
    cache: Path | None = setting(None, "on, off, or the folder of cached replies")
    with_key: bool = True


@dataclass(frozen=True, slots=True)
class AskSettings:
    """What the commands that ask take where they have no option for it."""

    corpus: str | None = setting(None, "the corpus that is asked")
    graph: str | None = setting(None, "the knowledge graph that is asked")
    agent: str | None = setting(None, "who chooses the next passages", choices=get_args(AgentName))
    budget: int = setting(30, "distinct passages at most", bounds=(1, 1000))


#: The field of every setting, by its name in files.
SETTINGS: dict[str, Field[Any]] = {
    f"{section}.{each.name}": each
    for section, declared in (("llm", LanguageSettings), ("ask", AskSettings))
    for each in fields(declared)
    if each.metadata
}


@dataclass(frozen=True, slots=True)
class SettingValue:
    """The value of a setting and its source: a variable, or a file and line."""

    name: str
    value: Any
    source: Source = "default"
    where: str = ""


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
    values = (configuration or read_configuration()).values
    chosen = {n.removeprefix("llm."): v.value for n, v in values.items() if n.startswith("llm.")}
    chosen |= {name: value for name, value in given.items() if value is not None}
    if isinstance(chosen["cache"], bool):
        chosen["cache"] = replies_folder() if chosen["cache"] else None
    url = values["llm.url"]
    if given.get("url") is not None:
        url = SettingValue("llm.url", given["url"], "option")
    if url.value and (chosen["model"] or "none").strip().lower() != "none":
        checked_url(url.value, url.where or None)
    return LanguageSettings(**chosen, with_key=url.source != "project")


def variable_of(name: str) -> str:
    """Return the environment variable of a setting such as `llm.model`."""
    derived = "KGP_NEO4J_" + name.removeprefix("ask.").replace(".", "_").upper()
    return SETTINGS[name].metadata["variable"] or derived


def replies_folder() -> Path:
    """Return the default folder of cached replies."""
    return Folders.from_environment().cache / "replies"


# --- Values ---


def _checked_value(name: str, value: Any, where: str, folder: Path) -> Any:
    """Return a setting's value in its type; paths are relative to `folder`.

    Raises ConfigurationError for a value that the setting does not accept.
    """
    declared = SETTINGS[name]
    cache, path = name == "llm.cache", "Path" in str(declared.type)
    if declared.metadata["bounds"]:
        return _checked_number(name, value, where)
    if cache and isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        expected = "on, off or the name of a folder" if cache else "a text"
        raise _wrong_value(name, expected, where)
    text = value.strip()
    if cache and text.lower() in ("on", "off"):
        return text.lower() == "on"
    choices = declared.metadata["choices"]
    if choices and text not in choices:
        raise _wrong_value(name, f"one of {', '.join(choices)}", where)
    try:
        return folder / Path(text).expanduser() if path else text
    except RuntimeError:  # the home folder of an unknown user
        raise _wrong_value(name, "a path", where) from None


def _checked_number(name: str, value: Any, where: str) -> int | float:
    whole = str(SETTINGS[name].type).startswith("int")
    least, most = SETTINGS[name].metadata["bounds"]
    if type(value) not in ((int,) if whole else (int, float)) or not least <= value <= most:
        kind = "whole number" if whole else "number"
        raise _wrong_value(name, f"a {kind} from {least:g} to {most:,.0f}", where)
    return int(value) if whole else float(value)


def _number_or_text(text: str) -> int | float | str:
    """Return the number that a variable's text is, or the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _wrong_value(name: str, expected: str, where: str) -> ConfigurationError:
    hint = f"It is: {SETTINGS[name].metadata['help']}."
    return ConfigurationError(f"{name} has to be {expected}", where=where, hint=hint)


# --- Reading the environment and the files ---

#: The name of a project's file; the user's own is `config.toml` in the user's configuration folder.
FILE = "kgp-neo4j.toml"
_FILE_VARIABLE = "KGP_NEO4J_CONFIG"
_SECRET_KEY = re.compile(r"(api_?)?key|password|secret|token|.*_(key|password|secret|token)")


def read_configuration() -> Configuration:
    """Read the environment and the files; raises ConfigurationError for an error in them."""
    values = {name: SettingValue(name, each.default) for name, each in SETTINGS.items()}
    values["llm.cache"] = SettingValue("llm.cache", True)
    files: list[Path] = []
    try:
        folder = Path.cwd()
    except OSError:  # it has been deleted
        folder = Path.home()
    for path, source in _files(folder):
        files.insert(0, path)
        values |= _read_file(path, source)
    for name, declared in SETTINGS.items():
        variable = variable_of(name)
        if text := os.environ.get(variable, "").strip():
            given = _number_or_text(text) if declared.metadata["bounds"] else text
            value = _checked_value(name, given, variable, folder)
            values[name] = SettingValue(name, value, "environment", variable)
    return Configuration(values, tuple(files))


def user_file() -> Path:
    """Return the path of the user's own file of settings, which may not exist."""
    return Path(platformdirs.user_config_dir("kgp-neo4j", appauthor=False)) / "config.toml"


def _files(folder: Path) -> Iterator[tuple[Path, Source]]:
    """Yield the files of settings, those that are overridden first."""
    user = user_file()
    if user.is_file():
        yield user, "user"
    named = os.environ.get(_FILE_VARIABLE)
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
    status = path.stat()
    if status.st_uid not in (os.getuid(), 0) or status.st_mode & stat.S_IWOTH:
        raise ConfigurationError(
            "this file of settings belongs to someone else, or everybody may write to it",
            where=str(path),
            hint=f"Delete it, make it yours, or name it in {_FILE_VARIABLE} if you trust it.",
        )


def _read_file(path: Path, source: Source) -> dict[str, SettingValue]:
    """Return the settings of a file, each with its line."""
    try:
        text, sections = read_toml(path, 'A line reads like: model = "gpt-4o-mini".')
    except OSError as error:
        raise ConfigurationError(
            f"the settings cannot be read ({error.strerror})",
            where=str(path),
            hint="Change its permissions, or delete it.",
        ) from error
    values = {}
    for section, entries in sections.items():
        if not isinstance(entries, dict):
            raise _unknown(section, f"{path}:{_line(text, '', section)}")
        for key, value in entries.items():
            name, where = f"{section}.{key}", f"{path}:{_line(text, section, key)}"
            if name not in SETTINGS:
                raise _unknown(name, where)
            if name == "llm.key_file" and source == "project":
                raise ConfigurationError(
                    "a project's file may not say which file the key is in",
                    where=where,
                    hint=f"Set OPENAI_API_KEY_FILE, or write it into {user_file()}.",
                )
            checked = _checked_value(name, value, where, path.parent)
            values[name] = SettingValue(name, checked, source, where)
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


# --- The lines of `config`, without keys and passwords ---

#: Variables that hold a secret: only whether they are set is shown.
_SECRETS = {
    "llm.key": "OPENAI_API_KEY",
    "neo4j.password": "NEO4J_PASSWORD",
    "load.pdf_password": "KGP_NEO4J_PDF_PASSWORD",
}
#: Variables of the database and the folders, with their defaults.
_OTHERS = {
    "neo4j.uri": ("NEO4J_URI", "the embedded database"),
    "neo4j.username": ("NEO4J_USERNAME", "neo4j"),
    "neo4j.database": ("NEO4J_DATABASE", "neo4j"),
    "server.allow_files": ("KGP_NEO4J_ALLOW_FILES", None),
    "folders.maven_mirror": ("KGP_NEO4J_MAVEN_MIRROR", None),
}


def setting_lines(configuration: Configuration) -> list[SettingValue]:
    """Return every setting as it may be shown, in the order of the documentation."""
    folders = Folders.from_environment()
    lines = [replace(each, value=_shown_value(each)) for each in configuration.values.values()]

    def add(name: str, variable: str, default: str | None, shown: str) -> None:
        text = os.environ.get(variable, "").strip()
        line = SettingValue(name, shown or shown_url(text), "environment", variable)
        lines.append(line if text else SettingValue(name, default))

    for name, (variable, default) in _OTHERS.items():
        add(name, variable, default, "")
    add("folders.home", "KGP_NEO4J_HOME", str(folders.home), str(folders.home))
    add("folders.cache", "KGP_NEO4J_CACHE", str(folders.cache), str(folders.cache))
    for name, variable in _SECRETS.items():
        add(name, variable, None, f"set in {variable}")
    file = configuration.values["llm.key_file"]
    if file.value is None:
        return lines
    from_file = replace(file, name="llm.key", value=f"in {file.value}")
    return [from_file if (x.name, x.value) == ("llm.key", None) else x for x in lines]


def _shown_value(line: SettingValue) -> str | int | float | bool | None:
    value = line.value
    if line.name == "llm.url" and value:
        return shown_url(value)
    return value if isinstance(value, bool | int | float | None) else str(value)
