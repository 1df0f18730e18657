"""The record of exports and imports."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Transfer:
    """What an export wrote, or an import read; `bytes` is the size of the file."""

    name: str
    kind: Literal["corpus", "graph"]
    file: str
    nodes: int
    relationships: int
    bytes: int
    seconds: float
