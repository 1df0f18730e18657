"""The lines of Neo4j that the embedded server can be, and which of them a home has.

Each line keeps its data in a folder of its own, and the newest that is there says which one the
home has: so an upgrade works on a copy, and counts from the moment when that copy is renamed.
"""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kgp_neo4j.types.errors import ConfigurationError

#: Names the line of a home that has none yet.
VARIABLE = "KGP_NEO4J_SERVER"


@dataclass(frozen=True, slots=True)
class Line:
    """Releases of Neo4j that read each other's data."""

    name: str
    #: The folder of the data, below the home.
    data: str
    #: The Java class that begins the server.
    main: str
    #: The versions of Java that it runs on.
    java: tuple[str, ...]
    #: What its neo4j.conf has beside that of every line.
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
