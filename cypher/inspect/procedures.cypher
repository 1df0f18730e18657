// inspect.procedures() :: (name :: STRING, signature :: STRING, description :: STRING, mode :: STRING)
// The procedures custom.kgp.* that the server offers, and one that tells whether it has Graph Data Science.
// mode: READ
SHOW PROCEDURES YIELD name, signature, description, mode
WHERE name STARTS WITH 'custom.kgp.' OR name = 'gds.knn.write'
RETURN name, signature, description, mode
ORDER BY name
