"""Links that open the evidence in Neo4j Browser."""

import json
from collections.abc import Iterable
from urllib.parse import quote

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.types.errors import KgpError


def browser_link(connection: Connection, nodes: Iterable[str]) -> str | None:
    """Return a link that fills Browser's editor with the query that shows these nodes, by id.

    None where the address of Browser is not known, or there is nothing to show. The link has no
    password and runs nothing by itself; Browser asks for the password once.
    """
    ids = list(nodes)
    address = connection.browser_address
    if address is None or not ids:
        return None
    if not all(i.isalnum() and i.isascii() for i in ids):
        raise KgpError("an id is not a hash", hint="Load the corpus again.")
    query = statement("browser/show").text.rstrip().split("\n")[-1]
    query = query.replace("$nodes", json.dumps(ids).replace('"', "'"))
    return f"{address}&cmd=edit&arg={quote(query, safe='')}"
