"""Reads one file as `load` does."""

import sys
from pathlib import Path

from commands import output
from graphs import write_file

from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError


def read_one(path: Path, data: str | bytes | None = None) -> SourceDocument:
    """Return the document of a file, which is written where data are given; raise its error."""
    if data is not None:
        write_file(path, data)
    [reading] = read(path)
    if isinstance(reading, InputError):
        raise reading
    return reading


def told_without(package: str, path: Path) -> str:
    """Return what is told of a file where a package is not installed."""
    script = f"""
import sys
from pathlib import Path
sys.modules[{package!r}] = None
from kgp_neo4j.corpus.load.formats import read
print(*read(Path({str(path)!r})))
"""
    return output(sys.executable, "-c", script)
