"""Reads the environment and the files of settings, and keeps where each value comes from."""

from __future__ import annotations

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from kgp_neo4j.configuration.addresses import checked_url
from kgp_neo4j.configuration.definitions import (
    BY_NAME,
    SETTINGS,
    Held,
    LanguageSettings,
    Source,
    from_text,
    valued,
)
from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.settings import Folders

__all__ = [
    "FILE",
    "Configuration",
    "language_settings",
    "read_configuration",
    "replies_folder",
    "user_file",
]

#: The name of a project's file; the user's own is `config.toml` in the folder of the program.
FILE = "kgp-neo4j.toml"
_APP = "kgp-neo4j"
_NAMED = "KGP_NEO4J_CONFIG"
#: More than any file of settings has; a device or a data file named by mistake is not read whole.
_LARGEST = 1 << 20
_SECRETS = re.compile(r"(api_?)?key|password|secret|token|.*_(key|password|secret|token)")


@dataclass(frozen=True, slots=True)
class Configuration:
    """All settings with where they come from, and the files that were read."""

    held: Mapping[str, Held]
    files: tuple[Path, ...] = ()

    def value(self, name: str) -> Any:
        """Return the value of a setting such as `llm.model`."""
        return self.held[name].value


def language_settings(configuration: Configuration | None = None, **given: Any) -> LanguageSettings:
    """Return what is configured for language models; `given` (not None) comes before all of it.

    Raises ConfigurationError for an address that cannot be, where a model needs one.

    >>> language_settings(model="none").model
    'none'
    """
    configuration = configuration or read_configuration()
    chosen = {
        name.removeprefix("llm."): held.value
        for name, held in configuration.held.items()
        if name.startswith("llm.")
    }
    url = configuration.held["llm.url"] if given.get("url") is None else Held(given["url"])
    chosen |= {name: value for name, value in given.items() if value is not None}
    if isinstance(chosen["cache"], bool):
        chosen["cache"] = replies_folder() if chosen["cache"] else None
    if url.value and (chosen["model"] or "none").strip().lower() != "none":
        checked_url(url.value, url.where or None)
    return LanguageSettings(**chosen, with_key=url.source != "project")


def replies_folder() -> Path:
    """Return the folder that replies are kept in, where the settings name none."""
    return Folders.from_environment().cache / "replies"


def read_configuration(
    environ: Mapping[str, str] = os.environ, folder: Path | None = None
) -> Configuration:
    """Read the environment and the files; raises ConfigurationError for what is wrong in them.

    `folder` stands for the working folder.
    """
    held = {setting.name: Held(setting.default) for setting in SETTINGS}
    files: list[Path] = []
    folder = folder or _here()
    for path, source in _files(environ, folder):
        files.insert(0, path)
        held |= _read(path, source)
    for setting in SETTINGS:
        said = environ.get(setting.variable, "").strip()
        if said:
            value = valued(setting, from_text(setting, said), setting.variable, folder)
            held[setting.name] = Held(value, "environment", setting.variable)
    return Configuration(held, tuple(files))


def _here() -> Path:
    """Return the working folder; the home folder where it has been deleted."""
    try:
        return Path.cwd()
    except OSError:
        return Path.home()


def user_file() -> Path:
    """Return where the user's own file of settings is, or would be."""
    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / "config.toml"


def _files(environ: Mapping[str, str], folder: Path) -> Iterator[tuple[Path, Source]]:
    """Yield the files that count, those that are overruled first."""
    user = user_file()
    if user.is_file():
        yield user, "user"
    named = environ.get(_NAMED)
    if named is not None:
        # Empty, or the null device: no file of a project's.
        path = Path(named).expanduser()
        if named.strip() and path != Path(os.devnull):
            if not path.is_file():
                raise ConfigurationError(
                    f"{_NAMED} names no file",
                    where=str(path),
                    hint=f"Change {_NAMED}, or unset it.",
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
    """Raise ConfigurationError for a file that others may have put there, in /tmp for one."""
    if not hasattr(os, "getuid"):
        return
    found = path.stat()
    if found.st_uid not in (os.getuid(), 0) or found.st_mode & stat.S_IWOTH:
        raise ConfigurationError(
            "this file of settings belongs to someone else, or everybody may write to it",
            where=str(path),
            hint=f"Delete it, make it yours, or name it in {_NAMED} if you trust it.",
        )


def _read(path: Path, source: Source) -> dict[str, Held]:
    """Return the settings of a file with their lines."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        text = data.decode("utf-8-sig")
        if len(data) > _LARGEST:
            raise ValueError("it is too large")
        made = tomllib.loads(text)
    except OSError as error:
        raise ConfigurationError(
            f"the settings cannot be read ({error.strerror})",
            where=str(path),
            hint="Change its permissions, or delete it.",
        ) from error
    except (ValueError, RecursionError) as error:
        what, line = _said(error)
        raise ConfigurationError(
            f"this is no TOML ({what})",
            where=f"{path}:{line}" if line else str(path),
            hint='A line reads like: model = "gpt-4o-mini".',
        ) from None
    held = {}
    for section, values in made.items():
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
            held[setting.name] = Held(valued(setting, value, where, path.parent), source, where)
    return held


def _said(error: Exception) -> tuple[str, str]:
    """Return what is wrong with a TOML text, and the line."""
    if isinstance(error, UnicodeDecodeError):
        return "its text is not UTF-8", ""
    found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
    if found is None:
        return str(error) or type(error).__name__, ""
    return str(error)[: found.start()], found[1] or ""


def _line(text: str, section: str, key: str) -> int:
    """Return the line that a key stands in, as far as a look at the lines tells; else 1."""
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
    """Return the error of a name that is no setting; its value, maybe a key, is not shown."""
    if _SECRETS.fullmatch(name.rpartition(".")[2].lower()):
        return ConfigurationError(
            f"{name}: keys and passwords do not belong into a file of settings",
            where=where,
            hint="Delete the line, and set OPENAI_API_KEY, or OPENAI_API_KEY_FILE to a file of "
            "mode 0600.",
        )
    section, _, key = name.rpartition(".")
    keys = {known.partition(".")[2]: known for known in BY_NAME if known.startswith(f"{section}.")}
    near = [keys[found] for found in difflib.get_close_matches(key, keys, 1, 0.7)]
    # The section may be the wrong one, or missing.
    near = near or difflib.get_close_matches(name, BY_NAME, 1, 0.8)
    near = near or [known for known in BY_NAME if known.endswith(f".{key}")]
    listed = ", ".join(keys.values() or BY_NAME)
    hint = f"Did you mean {near[0]}?" if near else f"There are {listed}."
    return ConfigurationError(f"there is no setting {name}", where=where, hint=hint)
