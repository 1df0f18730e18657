// install.foreignIndexes() :: (name :: STRING)
// The indexes and constraints that others made.
// mode: READ
SHOW INDEXES YIELD name, type
WHERE type <> 'LOOKUP' AND NOT name STARTS WITH 'kgp_'
RETURN name
ORDER BY name
