// inspect.procedures() :: (name :: STRING, signature :: STRING, description :: STRING, mode :: STRING)
// The procedures custom.kgp.* that the server offers at this moment, and those of three that tell Graph
// Data Science, APOC Core and APOC Extended apart.
// mode: READ
SHOW PROCEDURES YIELD name, signature, description, mode
WHERE name STARTS WITH 'custom.kgp.'
   OR name IN ['gds.knn.write', 'apoc.cypher.run', 'apoc.custom.installProcedure']
RETURN name, signature, description, mode
ORDER BY name
