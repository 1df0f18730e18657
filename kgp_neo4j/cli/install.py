"""`kgp-neo4j install`: the stored procedures for Cypher users."""

from __future__ import annotations

import click

from kgp_neo4j.cli._output import json_option, print_result, say

_EPILOG = """
\b
Examples:
  kgp-neo4j install
  kgp-neo4j install --remove
  NEO4J_URI=neo4j://db:7687 NEO4J_PASSWORD=... kgp-neo4j install

Afterwards, in Neo4j Browser:  CALL custom.kgp.help()
"""


@click.command("install", epilog=_EPILOG)
@click.option("--remove", is_flag=True, help="Remove the procedures; the graph stays.")
@json_option
def command(remove: bool, as_json: bool) -> None:
    """Install the procedures custom.kgp.* so that Browser users can call them.

    Running it again upgrades what has changed and removes what no longer exists.
    """
    from kgp_neo4j.graphdb.install import install, uninstall
    from kgp_neo4j.graphdb.open import open_database

    with open_database(echo=say) as database:
        done = uninstall(database) if remove else install(database)
    changed = {"added": done.added, "upgraded": done.upgraded, "removed": done.removed}
    lines = [f"{word:9s}{name}" for word, names in changed.items() for name in names]
    if remove:
        lines.append(f"{len(done.removed)} procedures removed.")
    else:
        lines.append(f"{len(done.procedures)} procedures installed. Try: CALL custom.kgp.help()")
    print_result(done, as_json, "\n".join(lines))
