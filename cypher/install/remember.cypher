// install.remember(layout :: INT, schema :: STRING, version :: STRING) :: (version :: STRING)
// Writes down what is installed, so that the next run need not look at every index.
// mode: WRITE
MERGE (i:KgpInstallation {name: 'kgp-neo4j'})
SET i.layout = $layout, i.schema = $schema, i.version = $version
RETURN i.version AS version
