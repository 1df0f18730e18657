"""The records of exports, imports and backups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["StoreBackup", "Transfer"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """What an export wrote, or an import read.

    `vectors` is false where the file has no embeddings; `bytes` is the size of the file.
    """

    name: str
    kind: Literal["corpus", "graph"]
    file: str
    nodes: int
    relationships: int
    vectors: bool
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StoreBackup:
    """A backup of the embedded database: its file, versions, number of files and their bytes."""

    file: str
    neo4j: str
    kgp_neo4j: str
    files: int
    bytes: int
