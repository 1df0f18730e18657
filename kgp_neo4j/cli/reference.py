"""Write the reference pages of `docs/`: `python -m kgp_neo4j.cli.reference docs`.

The page of the procedures is made from the headers under `cypher/`, the one of the commands from
the command line's help. Text outside the two marker lines of a page is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from inspect import cleandoc
from pathlib import Path

import click

from kgp_neo4j.graphdb.statements import Parameter, Statement, folder
from kgp_neo4j.types.errors import InputError

__all__ = ["PAGES", "command_pages", "page", "procedure_pages"]

_BEGIN = "<!-- generated: python -m kgp_neo4j.cli.reference docs -->"
_END = "<!-- end of the generated part -->"


def procedure_pages() -> str:
    """Return the reference of all procedures."""
    return "\n".join(_procedure(statement) for statement in folder("procedures"))


def command_pages() -> str:
    """Return the reference of all commands with their arguments, options and examples."""
    from kgp_neo4j.cli import cli

    described: dict[str, str] = {}
    return "\n".join(
        _command(path, command, described) for path, command in _commands("kgp-neo4j", cli)
    )


#: The generated pages by file name.
PAGES: dict[str, Callable[[], str]] = {"cli.md": command_pages, "procedures.md": procedure_pages}


def page(path: Path) -> str:
    """Return a page with its generated part renewed and its other text kept."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise InputError(
            "the marker lines are missing", where=str(path), hint=f"Add {_BEGIN} and {_END}."
        )
    return f"{before}{begin}\n\n{PAGES[path.name]()}\n{end}{after}"


def _procedure(made: Statement) -> str:
    lines = [f"## custom.{made.name}\n", f"    custom.{made.signature}\n", made.description, ""]
    lines += _fields("parameter", made.inputs) if made.inputs else []
    if made.options:
        rows = [
            f"| `{o.name}` | {o.type} | `{o.default}` | {o.range} | {_cell(o.description)} |"
            for o in made.options
        ]
        head = ["| configuration | type | default | range | |", "|---|---|---|---|---|"]
        lines += [*head, *rows, ""]
    lines += _fields("column", made.outputs)
    if made.example:
        lines += ["```cypher", made.example, "```", ""]
    return "\n".join(lines)


def _fields(kind: str, fields: tuple[Parameter, ...]) -> list[str]:
    if kind == "column":
        return ["Columns: " + ", ".join(f"`{f.name}` ({f.type})" for f in fields) + ".", ""]
    rows = [
        f"| `{f.name}` | {f.type} | {'required' if f.default is None else f'`{f.default}`'} |"
        for f in fields
    ]
    return ["| parameter | type | default |", "|---|---|---|", *rows, ""]


def _commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            if subcommand is not None:
                yield from _commands(f"{path} {name}", subcommand)


def _command(path: str, command: click.Command, described: dict[str, str]) -> str:
    """Return a command's part; `described` has each option's row with the first command of it."""
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    lines = [f"## {path}\n", f"    {usage}\n", cleandoc(command.help or ""), ""]
    rows = []
    elsewhere: dict[str, list[str]] = {}
    for option in command.params:
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record:
            row = f"| `{_cell(record[0])}` | {_cell(record[1])} |"
            first = described.setdefault(row, path)
            if first == path:
                rows.append(row)
            else:
                elsewhere.setdefault(first, []).append(f"`{option.opts[-1]}`")
    also = [
        f"{', '.join(names)} of `{first.removeprefix('kgp-neo4j ')}`"
        for first, names in elsewhere.items()
    ]
    if also:
        rows.append(f"| also | {'; '.join(also)} |")
    if rows:
        lines += ["| option | |", "|---|---|", *rows, ""]
    if command.epilog:
        lines += ["```text", command.epilog.replace("\b\n", "").strip(), "```", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").strip()


def main(docs: Path) -> None:
    """Renew all generated pages of a folder."""
    for name in PAGES:
        target = docs / name
        target.write_text(page(target), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
