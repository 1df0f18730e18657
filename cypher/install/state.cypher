// install.state() :: (layout :: INT, schema :: STRING, procedures :: STRING, version :: STRING)
// What an earlier run installed here: the layout of the graph, fingerprints of schema and procedures, and
// our version.
// mode: READ
MATCH (i:KgpInstallation {name: 'kgp-neo4j'})
RETURN coalesce(i.layout, 0) AS layout, i.schema AS schema, i.procedures AS procedures,
       i.version AS version
