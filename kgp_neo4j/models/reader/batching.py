"""Puts windows of different lengths into one array each of ids, types and mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["Laid", "padded"]


class Laid(Protocol):
    """What has word pieces, and says of each whether it is the question's (0) or a passage's."""

    @property
    def ids(self) -> Sequence[int]:
        """The word pieces' numbers."""
        ...

    @property
    def types(self) -> Sequence[int]:
        """0 or 1 for each word piece."""
        ...


def padded(batch: Sequence[Laid], padding: int) -> tuple[Any, Any, Any]:
    """Return ids, types and mask of windows, padded to the longest: (windows, pieces) each."""
    import torch

    longest = max(len(one.ids) for one in batch)
    ids = torch.full((len(batch), longest), padding)
    types = torch.zeros((len(batch), longest), dtype=torch.long)
    mask = torch.zeros((len(batch), longest), dtype=torch.long)
    for at, one in enumerate(batch):
        ids[at, : len(one.ids)] = torch.tensor(one.ids)
        types[at, : len(one.types)] = torch.tensor(one.types)
        mask[at, : len(one.ids)] = 1
    return ids, types, mask
