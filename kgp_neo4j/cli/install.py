"""`kgp-neo4j install`: the schema, and the stored procedures for Cypher users."""

from pathlib import Path

import click

from kgp_neo4j.cli._output import json_option, opened_database, print_result

_EPILOG = """
\b
Examples:
  kgp-neo4j install
  kgp-neo4j install --jar /var/lib/neo4j/plugins
  NEO4J_URI=neo4j://db:7687 NEO4J_PASSWORD=... kgp-neo4j install

Afterwards, in Neo4j Browser:  CALL custom.kgp.help()
"""


@click.command("install", epilog=_EPILOG)
@click.option(
    "--jar",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Copy the plugin into a server's folder for plugins, which it reads when it starts.",
)
@json_option
def command(jar: Path | None, as_json: bool) -> None:
    """Create the schema, and tell whether Browser users have the procedures custom.kgp.*.

    The embedded server has them. A server of your own needs the plugin kgp-procedures.jar: without
    it everything works but the procedures.
    """
    from kgp_neo4j.graphdb.install import copy_plugin, install
    from kgp_neo4j.types.corpus import InstallReport

    if jar is not None:
        done = InstallReport((), f"Copied to {copy_plugin(jar)}. Restart the server.")
        print_result(done, as_json, done.note)
        return
    with opened_database() as database:
        done = install(database)
    count = f"{len(done.procedures)} procedures. Try: CALL custom.kgp.help()"
    print_result(done, as_json, done.note or count)
