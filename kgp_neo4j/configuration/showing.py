"""What is configured, as a table: with where it comes from, and without keys and passwords."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kgp_neo4j.configuration.addresses import shown_url
from kgp_neo4j.configuration.reading import Configuration
from kgp_neo4j.settings import Folders

__all__ = ["Shown", "shown"]

#: Variables that hold a secret: only whether they are set is said.
_SECRETS = {
    "llm.key": "OPENAI_API_KEY",
    "neo4j.password": "NEO4J_PASSWORD",
    "load.pdf_password": "KGP_NEO4J_PDF_PASSWORD",
    "connect.linker_token": "GCUBE_TOKEN",
}
#: Variables of the database and the folders, with their defaults.
_VARIABLES = {
    "neo4j.uri": ("NEO4J_URI", "the embedded database"),
    "neo4j.username": ("NEO4J_USERNAME", "neo4j"),
    "neo4j.database": ("NEO4J_DATABASE", "neo4j"),
    "folders.maven_mirror": ("KGP_NEO4J_MAVEN_MIRROR", None),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One line: a setting, its value, and its source, with the variable or the file and line."""

    name: str
    value: str | int | float | bool | None
    source: str
    where: str


def shown(configuration: Configuration, environ: Mapping[str, str] = os.environ) -> list[Shown]:
    """Return a line for every setting, in the order of the documentation."""
    folders = Folders.from_environment(environ=environ)
    lines = [
        Shown(name, _readable(name, held.value), held.source, held.where)
        for name, held in configuration.held.items()
    ]
    for name, (variable, default) in _VARIABLES.items():
        said = environ.get(variable, "").strip()
        lines.append(_line(name, shown_url(said) if said else default, variable, bool(said)))
    for name, variable, folder in (
        ("folders.home", "KGP_NEO4J_HOME", folders.home),
        ("folders.cache", "KGP_NEO4J_CACHE", folders.cache),
    ):
        lines.append(_line(name, str(folder), variable, bool(environ.get(variable))))
    for name, variable in _SECRETS.items():
        said = environ.get(variable, "")
        lines.append(_line(name, f"set in {variable}" if said else None, variable, bool(said)))
    file = configuration.held["llm.key_file"]
    if file.value is not None:
        lines = [
            replace(line, value=f"in {file.value}", source=file.source, where=file.where)
            if line.name == "llm.key" and line.value is None
            else line
            for line in lines
        ]
    return lines


def _line(name: str, value: str | None, variable: str, is_set: bool) -> Shown:
    return Shown(name, value, "environment" if is_set else "default", variable if is_set else "")


def _readable(name: str, value: str | int | float | bool | None) -> str | int | float | bool | None:
    if name == "llm.url" and isinstance(value, str):
        return shown_url(value)
    return value if isinstance(value, bool | int | float) or value is None else str(value)
