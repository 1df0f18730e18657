"""Give a database to py2neo, for programs that were written with it.

Needs the extra `py2neo`. py2neo is no longer maintained: queries, transactions, node and
relationship matching work on Neo4j 5; docs/integrations.md lists what does not.
"""

from typing import Any

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.graphdb.database import Database


def graph(database: Database | Connection) -> Any:
    """Return a `py2neo.Graph` with connections of its own; it can write where `database` can't."""
    with needs("py2neo", "this graph"):
        from py2neo import Graph
    to = database.connection if isinstance(database, Database) else database
    return Graph(to.uri, auth=(to.username, to.password), name=to.database)
