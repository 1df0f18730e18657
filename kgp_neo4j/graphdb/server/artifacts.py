"""The lock file: every jar of the embedded database, with its size and SHA-256."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath

__all__ = ["Artifact", "Lock", "load_lock", "sha256_of"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar: `group:name:version` or `group:name:version:classifier`."""

    coordinate: str
    #: `plugin` for jars with procedures, `lib` for all others.
    role: str
    size: int
    sha256: str

    @property
    def path(self) -> PurePosixPath:
        """The path of the jar in a Maven repository, and below our cache folder."""
        group, name, version, *classifier = self.coordinate.split(":")
        file = "-".join([name, version, *classifier])
        return PurePosixPath(*group.split("."), name, version, f"{file}.jar")


@dataclass(frozen=True, slots=True)
class Lock:
    """The jars of one release of the embedded database."""

    #: `neo4j`, `browser`, `gds`, `apoc`, `apoc-extended` -> version.
    versions: dict[str, str]
    artifacts: tuple[Artifact, ...]
    #: Identifies this list of jars; changes with any of them.
    id: str


@cache
def load_lock() -> Lock:
    """Return the lock file that is part of this package."""
    text = files("kgp_neo4j.graphdb.server").joinpath("neo4j.lock").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    artifacts = tuple(Artifact(**entry) for entry in content["artifact"])
    digest = hashlib.sha256("".join(a.role + a.sha256 for a in artifacts).encode()).hexdigest()
    return Lock(content["versions"], artifacts, f"{content['versions']['neo4j']}-{digest[:12]}")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
