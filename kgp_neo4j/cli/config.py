"""`kgp-neo4j config`: every setting, its value and its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.cli._output import echo_json, json_option

if TYPE_CHECKING:
    from pathlib import Path

    from kgp_neo4j.environment.configuration import SettingValue

_EPILOG = """
\b
Examples:
  kgp-neo4j config
  kgp-neo4j config --json
  KGP_NEO4J_LLM=none kgp-neo4j config
  kgp-neo4j config --clear-cache

\b
A setting is what the command line says, else the environment, else kgp-neo4j.toml in this folder
or the nearest one above it (or the file that KGP_NEO4J_CONFIG names), else your own file, else its
default. Keys and passwords come from the environment, or from a file of mode 0600.
"""


@click.command("config", epilog=_EPILOG)
@click.option("--clear-cache", is_flag=True, help="Delete the replies of language models kept.")
@json_option
def command(clear_cache: bool, as_json: bool) -> None:
    """Show every setting, its value, and where it comes from; keys are never shown."""
    from kgp_neo4j.environment.configuration import (
        FILE,
        language_settings,
        read_configuration,
        replies_folder,
        setting_lines,
        user_file,
    )

    configuration = read_configuration()
    if clear_cache:
        # Where the cache is off, clear the replies stored before.
        _clear(language_settings(configuration).cache or replies_folder(), as_json)
        return
    rows = setting_lines(configuration)
    if as_json:
        files = [str(path) for path in configuration.files]
        echo_json({"files": files, "user_file": str(user_file()), "settings": rows})
        return
    _print(rows)
    read = ", ".join(str(path) for path in configuration.files) or "none"
    click.echo(f"\nFiles read: {read}")
    click.echo(f"A project's file is {FILE}, your own {user_file()}.")


def _print(rows: list[SettingValue]) -> None:
    name = max(len(row.name) for row in rows)
    value = min(40, max(len(_text(row.value)) for row in rows))
    for row in rows:
        line = f"{row.name:{name}}  {_text(row.value):{value}}  {row.source} {row.where}".rstrip()
        click.echo(click.style(line, dim=True) if row.source == "default" else line)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "-" if value is None else str(value)


def _clear(folder: Path, as_json: bool) -> None:
    from kgp_neo4j.llm.cache import ReplyCache

    cache = ReplyCache(folder)
    count = cache.clear()
    if as_json:
        echo_json({"deleted": count, "file": str(cache.path)})
    else:
        click.echo(f"{count:,} replies deleted ({cache.path})")
