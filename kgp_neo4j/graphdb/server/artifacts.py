"""The lock files: every jar of the embedded database, with its size and SHA-256."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath

from kgp_neo4j.graphdb.server.lines import DEFAULT


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
    """The jars of one line of Neo4j."""

    artifacts: tuple[Artifact, ...]

    @property
    def id(self) -> str:
        """What identifies this list of jars; it changes with any of them."""
        digest = hashlib.sha256("".join(a.role + a.sha256 for a in self.artifacts).encode())
        return f"{self.version()}-{digest.hexdigest()[:12]}"

    def version(self, library: str = "org.neo4j:neo4j") -> str:
        """Return the version of a library, `group:name`; of Neo4j without one."""
        return next(
            artifact.coordinate.split(":")[2]
            for artifact in self.artifacts
            if artifact.coordinate.startswith(f"{library}:")
        )


@cache
def load_lock(line: str = DEFAULT) -> Lock:
    """Return the lock file of a line of Neo4j, which is part of this package."""
    file = files("kgp_neo4j.graphdb.server").joinpath(f"neo4j-{line}.lock")
    rows = [row.split() for row in file.read_text(encoding="utf-8").splitlines() if row[0] != "#"]
    artifacts = tuple(Artifact(name, role, int(size), sum_) for name, role, size, sum_ in rows)
    return Lock(artifacts)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
