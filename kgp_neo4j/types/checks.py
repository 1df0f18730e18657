"""Check options: one of a few words, or a number within a range."""

from __future__ import annotations

from collections.abc import Iterable

from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["check_choice", "check_ranges"]


def check_choice(what: str, given: str, known: Iterable[str]) -> None:
    """Raise ConfigurationError unless `given` is one of the known words."""
    known = tuple(known)
    if given not in known:
        raise ConfigurationError(
            f"there is no {what} {given!r}", hint=f"Choose one of {', '.join(known)}."
        )


def check_ranges(settings: object, **ranges: tuple[float, float]) -> None:
    """Raise ConfigurationError for a setting outside its range; both ends are allowed."""
    for name, (low, high) in ranges.items():
        value = getattr(settings, name)
        if not low <= value <= high:
            raise ConfigurationError(
                f"{name} is {value}", hint=f"Choose a number from {low} to {high}."
            )
