"""`kgp-neo4j doctor`: check what the server and this installation can do."""

from __future__ import annotations

import click

from kgp_neo4j.cli._output import echo_json, json_option, say

_EPILOG = """
\b
Examples:
  kgp-neo4j doctor
  kgp-neo4j doctor --json
"""


@click.command("doctor", epilog=_EPILOG)
@json_option
def command(as_json: bool) -> None:
    """Show the server's version and plugins, what runs the models, and what is missing."""
    from kgp_neo4j.environment.extras import installed_extras
    from kgp_neo4j.graphdb.install import missing, open_database
    from kgp_neo4j.models.engine import describe_engine

    with open_database(echo=say) as database:
        found = database.capabilities()
        connection = database.connection
        # The server lists a dropped procedure until it restarts, so only the stored ones count.
        stored = database.read("install/stored") if found.apoc_extended else []
        installed = [f"custom.{row['name']}" for row in stored]
    lacks = missing(found)
    engine, extras = describe_engine(), installed_extras()
    if as_json:
        echo_json(
            {
                "uri": connection.uri,
                "database": connection.database,
                "embedded": connection.embedded,
                "server": found,
                "procedures": installed,
                "missing": lacks,
                "models": engine,
                "extras": extras,
            }
        )
        return
    kind = "embedded" if connection.embedded else "from NEO4J_URI"
    click.echo(f"server      Neo4j {found.version} {found.edition} at {connection.uri} ({kind})")
    click.echo(f"GDS         {'yes' if found.gds else 'missing'}")
    click.echo(f"APOC Core   {'yes' if found.apoc else 'missing'}")
    click.echo(f"APOC Ext.   {'yes' if found.apoc_extended else 'missing'}")
    click.echo(f"procedures  {len(installed)} custom.kgp.* installed")
    click.echo(
        f"models      {engine['engine']}, {engine['precision']}, {engine['threads']} threads"
    )
    click.echo(f"extras      {', '.join(extras) or 'none'}")
    for sentence in lacks:
        click.echo(click.style("! ", fg="yellow") + sentence)
