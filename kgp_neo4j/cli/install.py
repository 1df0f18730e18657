"""`kgp-neo4j install`: the schema, and the stored procedures for Cypher users."""

from pathlib import Path

import click

from kgp_neo4j.cli._options import result_command
from kgp_neo4j.cli._output import opened_database, print_result


@result_command("install")
@click.option(
    "--jar",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Copy the plugin into a server's folder for plugins, which it reads when it starts.",
)
def command(jar: Path | None) -> None:
    """Create the schema, and tell whether Browser users have the procedures custom.kgp.*.

    The embedded server has them. A server of your own needs the plugin kgp-procedures.jar: without
    it everything works but the procedures.
    """
    from kgp_neo4j.graphdb.open import copy_plugin, install
    from kgp_neo4j.types.corpus import InstallReport

    if jar is not None:
        done = InstallReport((), f"Copied to {copy_plugin(jar)}. Restart the server.")
        print_result(done, done.note)
        return
    with opened_database() as database:
        done = install(database)
    count = f"{len(done.procedures)} procedures. Try: CALL custom.kgp.help()"
    print_result(done, done.note or count)
