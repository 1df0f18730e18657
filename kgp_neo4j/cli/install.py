"""`kgp-neo4j install`: the stored procedures for Cypher users."""

from __future__ import annotations

import click

from kgp_neo4j.cli._output import echo_json, json_option, say

_EPILOG = """
\b
Examples:
  kgp-neo4j install
  kgp-neo4j install --remove
  NEO4J_DATABASE=law kgp-neo4j install --create-database --roles
  NEO4J_URI=neo4j://db:7687 NEO4J_PASSWORD=... kgp-neo4j install

Afterwards, in Neo4j Browser:  CALL custom.kgp.help()
"""


@click.command("install", epilog=_EPILOG)
@click.option("--remove", is_flag=True, help="Remove the procedures; the graph stays.")
@click.option(
    "--create-database",
    is_flag=True,
    help="Make the database of NEO4J_DATABASE first, unless it is there (Neo4j Enterprise).",
)
@click.option(
    "--roles",
    is_flag=True,
    help="Make the roles NAME_reader and NAME_writer for the database NAME (Neo4j Enterprise).",
)
@json_option
def command(remove: bool, create_database: bool, roles: bool, as_json: bool) -> None:
    """Install the procedures custom.kgp.* so that Browser users can call them.

    Running it again upgrades what has changed and removes what no longer exists.
    """
    from kgp_neo4j.graphdb import enterprise
    from kgp_neo4j.graphdb.install import chosen_connection, install, open_ready, uninstall

    connection = chosen_connection(echo=say)
    if create_database:
        enterprise.create_database(connection)
    with open_ready(connection) as database:
        if roles:
            say(f"Roles: {', '.join(enterprise.create_roles(database))}")
        done = uninstall(database) if remove else install(database)
    if as_json:
        echo_json(done)
        return
    for word, names in (
        ("added", done.added),
        ("upgraded", done.upgraded),
        ("removed", done.removed),
    ):
        for name in names:
            click.echo(f"{word:9s}{name}")
    if remove:
        click.echo(f"{len(done.removed)} procedures removed.")
    else:
        click.echo(f"{len(done.procedures)} procedures installed. Try: CALL custom.kgp.help()")
