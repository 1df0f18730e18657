"""How commands give out results: JSON on stdout, messages on stderr, written files."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.plugins import load_plugin
from kgp_neo4j.text.safe import Stream, plain, to_json
from kgp_neo4j.types.corpus import Answer, LoadReport
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.mindmap import GraphLoadReport, MindMap

if TYPE_CHECKING:
    from kgp_neo4j.graphdb.database import Database

#: What says how a result is given out: read by `given_out`, and no parameter of a command.
_FORMS = ("as_json", "as_mermaid", "form_as", "html")


class ResultCommand(click.Command):
    """A command with a result, which its last option `--json` prints as JSON."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        about = "Print JSON: a line, or one for each of a list."
        self.params.append(click.Option(["--json", "as_json"], is_flag=True, help=about))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command without what says how its result is given out."""
        ctx.meta.update((f"kgp_neo4j.{name}", ctx.params.pop(name, None)) for name in _FORMS)
        if sum(map(bool, map(given_out, _FORMS[:3]))) > 1:
            raise click.UsageError("Choose one of --json, --mermaid and --as.")
        return super().invoke(ctx)


class ResultGroup(click.Group):
    """A group of commands with results."""

    command_class = ResultCommand


result_command = functools.partial(click.command, cls=ResultCommand)


def given_out(form: str) -> Any:
    """Return what the running command was given of `_FORMS`, if any."""
    return click.get_current_context().meta.get(f"kgp_neo4j.{form}")


#: What of a load is told line by line: the field of its report, and the lines that are printed.
_FAULTS = {
    "left out": "left_out",
    "noted": "notes",
    "not read": "ignored",
    "skipped": "skipped_rows",
    "not loaded": "errors",
    "moved": "moved",
    "removed": "pruned",
    "gone": "gone",
}
_SHOWN = 20


def print_result(
    result: Any, shown: str | Callable[[Any], object], *, drawn: Answer | MindMap | None = None
) -> None:
    """Print a result on stdout: as JSON, or as the text that says it or the function prints.

    `drawn` is the answer in it, which a renderer prints, or writes as a page, where asked for.
    """
    if drawn is not None and (html := given_out("html")):
        write_file(html, load_plugin("renderer", "html")(drawn))
    form = "mermaid" if given_out("as_mermaid") else given_out("form_as")
    if drawn is not None and form:
        click.echo(load_plugin("renderer", form)(drawn).removesuffix("\n"))
    elif not gave_json(result):
        click.echo(shown) if isinstance(shown, str) else shown(result)


def gave_json(result: Any) -> bool:
    """Print a result as JSON, a list line by line, if `--json` was given; return whether it was."""
    if not given_out("as_json"):
        return False
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    for each in result if isinstance(result, list) else [result]:
        click.echo(to_json(each, ascii_only=encoding != "utf8"))
    return True


def print_fields(*fields: tuple[str, str]) -> None:
    """Print a line for each field of a thing, its name before it."""
    width = max(len(name) for name, _ in fields) + 2
    for name, value in fields:
        click.echo(f"{name:{width}}{value}")


def list_faults(
    account: LoadReport | GraphLoadReport, *, width: int = 11, err: bool = False
) -> None:
    """Print what of a load was left out, is worth noting, was not read, and not loaded."""
    for what, field in _FAULTS.items():
        if lines := getattr(account, field, ()):
            click.echo(f"{what:{width}} {len(lines):,}", err=err)
            click.echo("\n".join(f"  {plain(line)}" for line in lines[:_SHOWN]), err=err)
        if len(lines) > _SHOWN:
            lists = "`load --json`" if err else "--json"
            click.echo(f"  … and {len(lines) - _SHOWN:,} more, which {lists} lists", err=err)


def say(text: str) -> None:
    """Print a message on stderr; stdout is for results."""
    click.echo(text, err=True)


def opened_database(*, read_only: bool = False) -> Database:
    """Open the database, starting it where it does not run; tell of steps that take long."""
    from kgp_neo4j.graphdb.database import open_database

    return open_database(read_only=read_only, echo=say)


def say_error(error: object, *, bare: bool = False) -> None:
    """Print what went wrong on stderr, without colour where that is asked for."""
    red = click.style("Error:", fg="red", bold=True)
    click.echo(f"{red} {error}", err=True, color=False if bare or wants_no_colour() else None)


def wants_no_colour() -> bool:
    """Return whether the environment asks for output without colours and links."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def write_file(path: Path, text: str) -> None:
    """Write a page or a picture, and print its path; raises InputError where that fails."""
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise InputError(what, where=str(path), hint="Choose another file.") from error
    say(f"Written: {path}")


@contextmanager
def written() -> Iterator[Callable[[str], None] | None]:
    """Show a reply on the terminal while it is written, unchecked; not beside JSON or Mermaid."""
    if any(map(given_out, _FORMS[:3])) or not sys.stderr.isatty():
        yield None
        return
    begun = False

    def show(text: str) -> None:
        nonlocal begun
        if not begun:
            click.secho("Being written, not checked yet:", dim=True, err=True)
        begun = True
        click.secho(text, dim=True, nl=False, err=True)

    stream = Stream(show)
    try:
        yield stream.write
    finally:
        stream.close()
        if begun:
            click.echo(err=True)
