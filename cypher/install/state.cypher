// install.state() :: (layout :: INT, schema :: STRING, version :: STRING)
// What an earlier run made here: the layout of the graph, a fingerprint of the schema, and our version.
// mode: READ
MATCH (i:KgpInstallation {name: 'kgp-neo4j'})
RETURN coalesce(i.layout, 0) AS layout, i.schema AS schema, i.version AS version
