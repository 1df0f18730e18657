"""Write the reference pages of `docs/`: `python tests/support/reference.py docs`.

The page of the procedures is made from the headers under `cypher/`, the one of the commands from
the command line's help, each by its template. Text outside the two marker lines of a page is kept.
"""

import sys
from collections.abc import Callable, Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, FileSystemLoader

from kgp_neo4j.cli import cli
from kgp_neo4j.graphdb.statements import folder

_BEGIN = "<!-- generated: python tests/support/reference.py docs -->"
_END = "<!-- end of the generated part -->"
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("reference_templates")),
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters["cell"] = lambda text: text.replace("|", "\\|").replace("\n", " ").strip()


def page(path: Path) -> str:
    """Return a page with its generated part renewed and its other text kept."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    assert end, f"{path} lacks a marker line: {_BEGIN} or {_END}"
    generated = _TEMPLATES.get_template(path.name).render(PAGES[path.name]())
    return f"{before}{begin}\n\n{generated}{end}{after}"


def _described_commands() -> Iterator[dict[str, Any]]:
    """Yield the parts of each command, with an option's row at the first command that has it."""
    first: dict[tuple[str, str], str] = {}
    for path, command in all_commands("kgp-neo4j", cli):
        context = click.Context(command, info_name=path, **cli.context_settings)
        rows: list[tuple[str, str]] = []
        also: dict[str, list[str]] = {}
        for option in command.params:
            row = option.get_help_record(context) if isinstance(option, click.Option) else None
            if row and first.setdefault(row, path) == path:
                rows.append(row)
            elif row:
                also.setdefault(first[row].removeprefix("kgp-neo4j "), []).append(option.opts[-1])
        yield {
            "path": path,
            "usage": " ".join([path, *command.collect_usage_pieces(context)]),
            "help": cleandoc(command.help or ""),
            "rows": rows,
            "also": also,
            "epilog": (command.epilog or "").replace("\b\n", "").strip(),
        }


def all_commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and those that it holds, each with how it is called."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, **cli.context_settings)
        for name in command.list_commands(context):
            if subcommand := command.get_command(context, name):
                yield from all_commands(f"{path} {name}", subcommand)


#: What the template of each page is filled with.
PAGES: dict[str, Callable[[], dict[str, Any]]] = {
    "cli.md": lambda: {"commands": _described_commands()},
    "procedures.md": lambda: {"procedures": folder("procedures")},
}


def main(docs: Path) -> None:
    """Renew all generated pages of a folder."""
    for name in PAGES:
        target = docs / name
        target.write_text(page(target), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
