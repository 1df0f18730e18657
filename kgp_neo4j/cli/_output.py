"""What the commands print: JSON on stdout, messages on stderr, written files."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from kgp_neo4j.text.safe import Stream
from kgp_neo4j.types.json_records import to_json

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def echo_json(value: Any, indent: int | None = 2) -> None:
    """Print a record, or a list of records, as JSON on stdout; in ASCII where that is not UTF-8."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    click.echo(to_json(value, indent=indent, ascii_only=encoding != "utf8"))


def print_result(result: Any, as_json: bool, shown: str | Callable[[Any], object]) -> None:
    """Print a result on stdout: as JSON, or as the text that says it or the function prints."""
    if as_json:
        echo_json(result)
    elif isinstance(shown, str):
        click.echo(shown)
    else:
        shown(result)


def say(text: str) -> None:
    """Print a message on stderr; stdout is for results."""
    click.echo(text, err=True)


def write_file(path: Path, text: str) -> None:
    """Write a page or a picture, and print its path; raises InputError where that fails."""
    from kgp_neo4j.types.errors import InputError

    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", where=str(path), hint="Choose another file."
        ) from error
    say(f"Written: {path}")


@contextmanager
def written(quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """Show a reply on the terminal while it is written, unchecked; with `quiet`, show nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return

    begun = False

    def show(text: str) -> None:
        nonlocal begun
        if not begun:
            click.echo(click.style("Being written, not checked yet:", dim=True), err=True)
        begun = True
        click.echo(click.style(text, dim=True), nl=False, err=True)

    stream = Stream(show)
    try:
        yield stream.write
    finally:
        stream.close()
        if begun:
            click.echo(err=True)
