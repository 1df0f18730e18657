"""What the commands share: JSON for machines, a corpus option, and where to look next."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["corpus_option", "echo_json", "json_option", "plain_record", "say", "write_file"]

F = TypeVar("F", bound=Callable[..., Any])

_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
_corpus = click.option(
    "--corpus",
    required=True,
    envvar="KGP_NEO4J_CORPUS",
    metavar="NAME",
    help="The corpus (or KGP_NEO4J_CORPUS).",
)


def json_option(command: F) -> F:
    """Add `--json` to a command."""
    return _json(command)


def corpus_option(command: F) -> F:
    """Add the required `--corpus` to a command."""
    return _corpus(command)


def echo_json(value: Any) -> None:
    """Print a record, or a list of records, as JSON on stdout."""
    click.echo(json.dumps(plain_record(value), ensure_ascii=False, indent=2))


def say(text: str) -> None:
    """Tell a person, on stderr, what is going on; stdout stays clean for results."""
    click.echo(text, err=True)


def write_file(path: Path, text: str) -> None:
    """Write a page or a picture, and say so; raises InputError where the file cannot be written."""
    from kgp_neo4j.errors import InputError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", where=str(path), hint="Choose another file."
        ) from error
    say(f"Written: {path}")


def plain_record(value: Any) -> Any:
    """Return a record as what JSON holds."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain_record(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): plain_record(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain_record(v) for v in value]
    return value
