"""The lines of Neo4j that the embedded server can be, which of them a home has, and their jars.

Each line keeps its data in a folder of its own, and the newest that is there says which one the
home has: so an upgrade works on a copy, and counts from the moment when that copy is renamed.
"""

import hashlib
import os
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath

import msgspec

from kgp_neo4j.types.errors import ConfigurationError

#: Names the line of a home that has none yet.
VARIABLE = "KGP_NEO4J_SERVER"


@dataclass(frozen=True, slots=True)
class Line:
    """Releases of Neo4j that read each other's data; lines.toml describes the fields."""

    name: str
    data: str
    main: str
    java: tuple[str, ...]
    conf: str


#: By name, from the oldest; the first is the default.
LINES = {
    name: msgspec.convert({"name": name, **told}, Line)
    for name, told in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
DEFAULT = next(iter(LINES))


def line_of(home: Path) -> Line:
    """Return the line of a home; of a new one, what KGP_NEO4J_SERVER says, or the default.

    Raises ConfigurationError where that variable names no line.
    """
    name = os.environ.get(VARIABLE, "").strip() or DEFAULT
    if name not in LINES:
        what = f"{VARIABLE} is {name!r}, which is no line of Neo4j that can be embedded"
        raise ConfigurationError(what, hint=f"Set it to {' or '.join(LINES)}, or unset it.")
    there = [line for line in LINES.values() if (home / line.data).is_dir()]
    return there[-1] if there else LINES[name]


def has_data(data: Path) -> bool:
    """Return whether a server has started in a folder of data."""
    return (data / "databases" / "system").exists()


@dataclass(frozen=True, slots=True)
class Artifact:
    """A jar `group:name:version[:classifier]`; its role is `plugin` with procedures, else `lib`."""

    coordinate: str
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
        names = (each.coordinate.split(":") for each in self.artifacts)
        return next(version for group, name, version, *_ in names if f"{group}:{name}" == library)


@cache
def load_lock(line: str = DEFAULT) -> Lock:
    """Return the lock file of a line of Neo4j, which is part of this package."""
    file = files("kgp_neo4j.graphdb.server").joinpath(f"neo4j-{line}.lock")
    rows = [row.split() for row in file.read_text(encoding="utf-8").splitlines() if row[0] != "#"]
    return Lock(tuple(Artifact(name, role, int(size), sum_) for name, role, size, sum_ in rows))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
