"""Plugins: a kind and a name in; the part that this or another installed package has of it out.

Ours stand in `parts.toml`; other packages register theirs as entry points of the groups
`kgp_neo4j.KIND`. docs/plugins.md says what a part of each kind is.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import msgspec

from kgp_neo4j.types.errors import ConfigurationError, KgpError, first_line
from kgp_neo4j.types.settings import check_choice

_PARTS: dict[str, dict[str, str]] = msgspec.toml.decode(
    Path(__file__).with_name("parts.toml").read_bytes()
)
KINDS = tuple(_PARTS)
_registered = cache(entry_points)  # looking through all packages takes a while


@cache
def plugged(kind: str) -> Mapping[str, EntryPoint]:
    """Return the parts of a kind by name; another package's takes the place of our own."""
    group = f"kgp_neo4j.{kind}"
    own = {name: EntryPoint(name, where, group) for name, where in _PARTS[kind].items()}
    return own | {each.name: each for each in _registered().select(group=group)}


def load_plugin(kind: str, name: str) -> Any:
    """Return the part of a kind and a name.

    Raises ConfigurationError where there is none, or another package's cannot be imported.
    """
    check_choice(kind, name, plugged(kind))
    part = plugged(kind)[name]
    try:
        return part.load()
    except Exception as error:
        if isinstance(error, KgpError) or part.dist is None:
            raise
        problem = f"the {kind} {name!r} cannot be loaded ({first_line(error)})"
        hint = f"Mend its package, or uninstall it: {part.dist.name}."
        raise ConfigurationError(problem, where=part.value, hint=hint) from error
