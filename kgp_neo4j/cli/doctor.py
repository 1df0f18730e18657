"""`kgp-neo4j doctor`: check what the server and this installation can do."""

import click

from kgp_neo4j.cli._options import result_command
from kgp_neo4j.cli._output import gave_json, opened_database, print_fields
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.json_records import parts


@result_command("doctor")
def command() -> None:
    """Show the server's version, plugins and memory, what runs the models, and what is missing."""
    from kgp_neo4j.environment.configuration import language_settings
    from kgp_neo4j.environment.extras import installed_extras
    from kgp_neo4j.environment.folders import Folders
    from kgp_neo4j.graphdb.open import missing
    from kgp_neo4j.graphdb.room import measure_room
    from kgp_neo4j.graphdb.server import supervise
    from kgp_neo4j.graphdb.server.startup import machine_memory
    from kgp_neo4j.llm.call import HOW_TO_GET_ONE, available
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
