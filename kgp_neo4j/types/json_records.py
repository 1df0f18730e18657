"""Turns records into plain values and JSON."""

import dataclasses
import json
from collections.abc import Collection, Mapping
from pathlib import PurePath
from typing import Any


def parts(record: object, *names: str) -> dict[str, Any]:
    """Return some fields and properties of a record by name."""
    return {name: getattr(record, name) for name in names}


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """Return a record, or anything that contains records, as JSON."""
    return json.dumps(value, ensure_ascii=ascii_only, default=_plain)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return parts(value, *names, *getattr(value, "DERIVED", ()))
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Collection):
        return list(value)
    return float(value)  # a model's numbers may be NumPy's
