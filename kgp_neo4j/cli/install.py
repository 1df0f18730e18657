"""`kgp-neo4j install`, `doctor`, `config` and `browser-queries`: what is set up, and how."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import click

from kgp_neo4j.cli._options import FILE, corpus_option, default_option, graph_option
from kgp_neo4j.cli._output import (
    gave_json,
    opened_database,
    print_fields,
    print_result,
    result_command,
    say,
)
from kgp_neo4j.environment.configuration import (
    language_settings,
    replies_folder,
    setting_lines,
    settings_file,
)
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.json_records import parts


@result_command("install")
@click.option(
    "--jar",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Copy the plugin into a server's folder for plugins, which it reads when it starts.",
)
def install_command(jar: Path | None) -> None:
    """Create the schema, and tell whether Browser users have the procedures custom.kgp.*.

    The embedded server has them. A server of your own needs the plugin kgp-procedures.jar: without
    it everything works but the procedures.
    """
    from kgp_neo4j.graphdb.install import copy_plugin, install
    from kgp_neo4j.types.corpus import InstallReport

    if jar is not None:
        done = InstallReport((), f"Copied to {copy_plugin(jar)}. Restart the server.")
        print_result(done, done.note)
        return
    with opened_database() as database:
        done = install(database)
    count = f"{len(done.procedures)} procedures. Try: CALL custom.kgp.help()"
    print_result(done, done.note or count)


@result_command("doctor")
def doctor_command() -> None:
    """Show the server's version, plugins and memory, what runs the models, and what is missing."""
    from kgp_neo4j.environment.configuration import language_settings
    from kgp_neo4j.environment.extras import installed_extras
    from kgp_neo4j.environment.folders import Folders
    from kgp_neo4j.graphdb.install import missing
    from kgp_neo4j.graphdb.room import measure_room
    from kgp_neo4j.graphdb.server import supervise
    from kgp_neo4j.graphdb.server.neo4j_conf import machine_memory
    from kgp_neo4j.llm.available import HOW_TO_GET_ONE, available
    from kgp_neo4j.models.engine import describe_engine

    with opened_database() as database:
        capabilities = database.capabilities()
        connection = database.connection
        server = supervise.status(Folders.from_environment()) if connection.embedded else None
        room = measure_room(database, server, machine_memory())
    lacks = [*missing(capabilities), *room.short]
    engine, extras = describe_engine(), installed_extras()
    there: list[str] = []
    try:
        for each in available(language_settings()):
            there.append(plain(f"{each.model} at {each.url}" if each.url else f"{each.model}"))
    except ConfigurationError as error:
        lacks.append(str(error))
    found = {"server": capabilities, "missing": lacks, "needs": room}
    found |= {"models": engine, "language_models": there, "extras": extras}
    if gave_json(parts(connection, "uri", "database", "embedded") | found):
        return
    kind = "embedded" if connection.embedded else "from NEO4J_URI"
    version = f"{capabilities.version} {capabilities.edition}"
    more = {e: f" and {len(names) - 5} more" for e, names in room.encoders.items() if names[5:]}
    sizes = [("vectors", room.vectors), ("graph", room.store)]
    print_fields(
        ("server", f"Neo4j {version} at {connection.uri} ({kind})"),
        ("GDS", "yes" if capabilities.gds else "missing"),
        ("procedures", f"{len(capabilities.procedures)} custom.kgp.*"),
        ("models", f"{engine['engine']}, {engine['precision']}, {engine['threads']} threads"),
        *(
            ("encoder", f"{each}: {', '.join(names[:5])}{more.get(each, '')}")
            for each, names in room.encoders.items()
        ),
        ("language", ", ".join(there) or f"none. {HOW_TO_GET_ONE}"),
        ("extras", ", ".join(extras) or "none"),
        ("needs", ", ".join(f"{name} {n / 2**20:,.0f} MiB" for name, n in sizes if n is not None)),
    )
    for sentence in lacks:
        click.echo(click.style("! ", fg="yellow") + sentence)


@result_command("config")
@click.option("--clear-cache", is_flag=True, help="Delete the replies of language models kept.")
def config_command(clear_cache: bool) -> None:
    """Show every setting, its value, and where it comes from; keys are never shown."""
    if clear_cache:
        from kgp_neo4j.llm.cache import reply_cache

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


_FOLDER = "kgp-neo4j/"


@result_command("browser-queries")
@default_option("--out", Path("kgp-neo4j.zip"), "The file to write.", type=FILE)
@corpus_option(required=False, help="The corpus that the queries ask; demo when none is named")
@graph_option(required=False, help="The knowledge graph that they ask; demo when none is named")
def browser_queries_command(out: Path, corpus: str | None, graph: str | None) -> None:
    """Write the procedures as queries that Neo4j Browser and Aura's Query tool import.

    They need no plugin, and writing them no database. Import the file as saved Cypher, run
    `parameters` first, then any other.
    """
    from kgp_neo4j.environment.disk import replacing
    from kgp_neo4j.graphdb.statements import LANGUAGE, folder

    names = {"CORPUS": corpus or "demo", "GRAPH": graph or "demo"}
    quoted = {mark: json.dumps(name, ensure_ascii=False) for mark, name in names.items()}
    values = files("kgp_neo4j.cypher").joinpath("browser", "parameters.txt").read_text("utf-8")
    values = re.sub("CORPUS|GRAPH", lambda mark: quoted[mark[0]], values)
    queries = {
        procedure.name.removeprefix("kgp."): procedure.text
        for procedure in folder("procedures")
        if procedure.inputs  # all but the list of the procedures
    }
    # A page's number is an integer, a table's is text, and a parameter has one value for all.
    queries["table"] = queries["table"].replace("$number", "$tableNumber")
    # Browser takes a query's name from its first line and makes the folder by the file's path; the
    # Query tool takes the name of the file, and needs the folder as an entry.
    with replacing(out, private=False) as file, ZipFile(file, "w") as archive:
        archive.writestr(ZipInfo(_FOLDER), "")
        archive.writestr(ZipInfo(f"{_FOLDER}parameters.cypher"), values)
        for name, text in queries.items():
            saved = f"// {name}\n{LANGUAGE.strip()}\n{text}\n"
            # All are dated 1980, so that the same queries are the same file.
            archive.writestr(ZipInfo(f"{_FOLDER}{name}.cypher"), saved)
    told = f"Written: {out}, {len(queries)} queries and their parameters"
    print_result({"file": str(out), "queries": list(queries)}, lambda _: say(told))
