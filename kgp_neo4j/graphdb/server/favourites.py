"""Writes the procedures' examples as favourites: a zip to drag into Neo4j Browser."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from zipfile import ZipFile, ZipInfo

from kgp_neo4j.environment.disk import replacing
from kgp_neo4j.graphdb.statements import folder

__all__ = ["write_favourites"]

_LONGEST = 60  # characters of a name that the panel shows


def write_favourites(path: Path) -> list[str]:
    """Write the examples of all procedures as Browser's favourites; return their names.

    Each is a file `kgp-neo4j/<procedure>.cypher` whose first line is its name, as Browser expects.
    Raises ServerError where the zip cannot be written.
    """
    names = []
    with replacing(path, private=False) as file, ZipFile(file, "w") as archive:
        for procedure in folder("procedures"):
            short = procedure.name.split(".")[-1]
            summary = procedure.description.split(". ")[0].rstrip(".")
            names.append(shorten(f"{short}: {summary}", _LONGEST, placeholder=" …"))
            entry = ZipInfo(f"kgp-neo4j/{short}.cypher")  # dated 1980: the same file each time
            archive.writestr(entry, f"// {names[-1]}\n{procedure.example}\n")
    return names
