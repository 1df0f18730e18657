"""`kgp-neo4j config`: every setting, its value and its source."""

from typing import Any

import click

from kgp_neo4j.cli._options import result_command
from kgp_neo4j.cli._output import gave_json, print_result
from kgp_neo4j.environment.configuration import (
    language_settings,
    replies_folder,
    setting_lines,
    settings_file,
)


@result_command("config")
@click.option("--clear-cache", is_flag=True, help="Delete the replies of language models kept.")
def command(clear_cache: bool) -> None:
    """Show every setting, its value, and where it comes from; keys are never shown."""
    if clear_cache:
        from kgp_neo4j.llm.chat import reply_cache

        # Where the cache is off, clear the replies stored before.
        cache = reply_cache(language_settings().cache or replies_folder())
        count = cache.clear()
        record = {"deleted": count, "file": cache.path}
        print_result(record, f"{count:,} replies deleted ({cache.path})")
        return
    rows, file = setting_lines(), settings_file()
    is_there = file is not None and file.is_file()
    if gave_json({"file": str(file) if is_there else "", "settings": rows}):
        return
    name = max(len(row.name) for row in rows)
    value = min(40, max(len(_text(row.value)) for row in rows))
    for row in rows:
        line = f"{row.name:{name}}  {_text(row.value):{value}}  {row.source} {row.where}".rstrip()
        click.echo(click.style(line, dim=True) if row.source == "default" else line)
    click.echo(f"\nThe file of settings: {file or 'none'}{'' if is_there else ' (not there)'}")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "-" if value is None else str(value)
