// install.state() :: (schema :: STRING, procedures :: STRING, version :: STRING)
// What an earlier run installed here: fingerprints of schema and procedures, and our version.
// mode: READ
MATCH (i:KgpInstallation {name: 'kgp-neo4j'})
RETURN i.schema AS schema, i.procedures AS procedures, i.version AS version
