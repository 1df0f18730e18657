"""Writes the procedures' examples as favourites: a zip to drag into Neo4j Browser."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from kgp_neo4j.graphdb.server.disk import disk_error
from kgp_neo4j.graphdb.statements import Statement, folder

__all__ = ["write_favourites"]

_FOLDER = "kgp-neo4j"
_LONGEST = 60  # characters of a name that the panel shows


def write_favourites(path: Path) -> list[str]:
    """Write the examples of all procedures as Browser's favourites; return their names.

    Each is a file `kgp-neo4j/<procedure>.cypher` whose first line is its name, as Browser expects.
    The zip is written atomically. Raises ServerError where it cannot be written.
    """
    procedures = {
        _name(procedure): procedure for procedure in folder("procedures") if procedure.example
    }
    fresh: Path | None = None
    try:
        number, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        fresh = Path(temporary)
        with os.fdopen(number, "wb") as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for name, procedure in procedures.items():
                entry = ZipInfo(
                    f"{_FOLDER}/{procedure.name.split('.')[-1]}.cypher", (1980, 1, 1, 0, 0, 0)
                )
                archive.writestr(entry, f"// {name}\n{procedure.example}\n")
        fresh.chmod(0o644)
        fresh.replace(path)
    except OSError as error:
        raise disk_error(error, path, "The favourites could not be written") from error
    finally:
        if fresh is not None:
            fresh.unlink(missing_ok=True)
    return list(procedures)


def _name(procedure: Statement) -> str:
    """Return the procedure's short name with the beginning of its description."""
    summary = procedure.description.split(". ")[0].rstrip(".")
    text = f"{procedure.name.split('.')[-1]}: {summary}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2].rsplit(' ', 1)[0]} …"
