"""Convert records to JSON, and back."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["read_record", "to_json"]


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return a record, or anything that contains records, as JSON."""
    return json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in (*names, *getattr(value, "DERIVED", ()))}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Collection):
        return list(value)
    return float(value)  # a model's numbers may be NumPy's


def read_record(hint: Any, value: Any) -> Any:
    """Return the parsed JSON that `to_json` wrote as the type that a record's field declares."""
    if value is None:
        return () if typing.get_origin(hint) is tuple else None
    if isinstance(hint, types.UnionType):
        return read_record(next(h for h in typing.get_args(hint) if h is not types.NoneType), value)
    if typing.get_origin(hint) is tuple:
        return tuple(read_record(typing.get_args(hint)[0], each) for each in value)
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        build: Any = hint
        return build(**{name: read_record(hints[name], each) for name, each in value.items()})
    return value
