"""Declare settings with their ranges, choices and help, and check their values."""

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from typing import Any

from kgp_neo4j.types.errors import ConfigurationError


def setting(
    default: Any,
    help: str = "",
    *,
    bounds: tuple[float, float] | None = None,
    choices: Iterable[str] = (),
    option: str = "",
    metavar: str | None = None,
    variable: str | None = None,
    secret: bool = False,
) -> Any:
    """Return a field of a settings dataclass.

    `bounds` are the least and the greatest value, `choices` the words that are allowed: both the
    settings' own check (`Checked`) and the command's option read them from here. A field
    with a `help` is an option of commands, called `option` where that is not its name, and read
    from the environment's `variable` where it is not given. A `secret` is left out of the `repr`.
    """
    about = {"help": help, "bounds": bounds, "choices": tuple(choices), "option": option}
    about |= {"metavar": metavar, "variable": variable}
    return field(default=default, repr=not secret, metadata=about)


class Checked:
    """The base of a dataclass of settings that are checked when they are made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Raise ConfigurationError for a field outside its bounds or its choices."""
        for each in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, each.name)
            if value is not None and (bounds := each.metadata.get("bounds")):
                low, high = bounds
                if not low <= value <= high:
                    hint = f"Choose a number from {low} to {high}."
                    raise ConfigurationError(f"{each.name} is {value}", hint=hint)
            if choices := each.metadata.get("choices"):
                for word in value if isinstance(value, tuple) else (value,):
                    check_choice(each.name.removesuffix("s").replace("_", " "), word, choices)


def check_choice(what: str, given: str, known: Iterable[str]) -> None:
    """Raise ConfigurationError unless `given` is one of the known words."""
    known = tuple(known)
    if given not in known:
        raise ConfigurationError(
            f"there is no {what} {given!r}", hint=f"Choose one of {', '.join(known)}."
        )


def wrong_fields(errors: Iterable[Mapping[str, Any]]) -> str:
    """Return what is wrong with each field, by the `errors` of pydantic; values are left out."""
    return "; ".join(
        f"{'.'.join(map(str, each['loc']))}: {each['msg']}".removeprefix(": ") for each in errors
    )
