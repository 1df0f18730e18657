"""Command line: arguments in; printed answers, JSON and an exit code out.

Exit codes: 0 done, 1 failed (the message gives the reason), 2 wrong use, 130 interrupted.
"""

import gc
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import resources
from itertools import takewhile
from typing import NoReturn

import click

from kgp_neo4j.types.errors import KgpError

_COMMANDS = (
    "demo load connect load-kg ask chat history explain mindmap retrieve evaluate train corpora "
    "delete serve export import mcp server install browser-queries plugins config doctor"
).split()
#: The modules of commands that are not in one of their own name.
_MODULES = {
    **dict.fromkeys(("chat", "mindmap", "history", "explain"), "ask"),
    **dict.fromkeys("connect load-kg demo corpora delete export import".split(), "load"),
    **dict.fromkeys("install doctor config browser-queries plugins serve mcp".split(), "server"),
    **dict.fromkeys(("retrieve", "train"), "evaluate"),
}

#: The commands whose options take their default from the section `ask` of a file of settings.
_CONFIGURED = ("ask", "chat", "retrieve", "mindmap")


class _Commands(click.Group):
    """Import a command's module only when it is needed, so that `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return _COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"{__name__}.{_MODULES.get(cmd_name, cmd_name)}")
        found: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        _give_examples(cmd_name, found)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.obj = any(arg in ctx.help_option_names for arg in args)  # whether help is asked for
        return super().parse_args(ctx, args)


def _give_examples(path: str, command: click.Command) -> None:
    """Show a command's section of `examples.txt` below its help, and those of its commands."""
    text = resources.files(__name__).joinpath("examples.txt").read_text("utf-8")
    _, _, after = text.partition(f"## {path}\n\n")
    paragraphs = after.partition("\n\n## ")[0].split("\n\n")
    # With this mark the lines of a paragraph are kept as they are.
    command.epilog = "\n\n".join(f"\b\n{p}" if "\n  " in p else p for p in paragraphs)
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            _give_examples(f"{path} {name}", each)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show tracebacks, and what the server notes.")
@click.option("--no-color", is_flag=True, help="No colours and links (or NO_COLOR, TERM=dumb).")
@click.version_option(package_name="kgp-neo4j")
@click.pass_context
def cli(ctx: click.Context, debug: bool, no_color: bool) -> None:
    """Ask questions over many documents in Neo4j, with evidence anyone can check."""
    from kgp_neo4j.cli._output import wants_no_colour

    if no_color or wants_no_colour():
        ctx.color = False  # else click and rich see whether there is a terminal
    if debug:
        import logging

        logging.basicConfig(format="%(name)s: %(message)s")
        logging.getLogger("neo4j.notifications").setLevel(logging.INFO)
    command = ctx.invoked_subcommand
    if command in _CONFIGURED:
        from kgp_neo4j.environment.configuration import read_configuration

        try:
            values = read_configuration()
        except KgpError:
            if ctx.obj:
                return
            raise
        chosen = (each for each in values.values() if each.source != "default")
        # Names that a command has no option for are passed over.
        configured = {each.name.removeprefix("ask."): each.value for each in chosen}
        ctx.default_map = {command: configured}


_give_examples("kgp-neo4j", cli)


def main() -> None:
    """Run the command line and exit with its exit code."""
    # Imports make hardly any garbage: collecting it took a tenth of a question's time.
    gc.set_threshold(50_000, 20, 20)
    _leave(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line with these arguments; return its exit code."""
    if sys.stdin is None:  # it was closed: nothing comes from it
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a console cannot show ends nothing
            stream.reconfigure(errors="replace")
    ahead = list(takewhile(lambda word: word.startswith("-"), arguments))
    try:
        code = cli.main(list(arguments), "kgp-neo4j", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except Exception as error:
        if _was_interrupted(error):
            click.echo("Interrupted.", err=True)
            return 130
        code = 1
        if isinstance(error, click.Abort):
            click.echo("Nothing was done.", err=True)
        elif isinstance(error, KgpError | OSError):  # or a full disk
            from kgp_neo4j.cli._output import say_error

            if "--debug" in ahead:
                traceback.print_exc()
            say_error(error, bare="--no-color" in ahead)
        else:
            raise
    return code if isinstance(code, int) else 0


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C led to an error, as what it interrupts may fail while it is left."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _leave(code: int) -> NoReturn:
    """Exit with a code, at once where models were loaded."""
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it was closed before
            stream.flush()
    except OSError:  # a closed pipe, a full disk
        os._exit(code or 1)
    if {"openvino", "xllamacpp"} & sys.modules.keys():
        # Everything is written and closed; unloading these and Python takes a quarter of a second.
        os._exit(code)
    sys.exit(code)
