// inspect.plugins() :: (name :: STRING)
// Which of the procedures that tell GDS, APOC Core and APOC Extended apart are there.
// mode: READ
SHOW PROCEDURES YIELD name
WHERE name IN ['gds.knn.write', 'apoc.cypher.run', 'apoc.custom.installProcedure']
RETURN name
