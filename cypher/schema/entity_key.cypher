// schema.entityKey() :: ()
// The same by its normalised name within its graph; `e.key IS NOT NULL` finds all of a graph.
// mode: SCHEMA
CREATE CONSTRAINT kgp_entity_key IF NOT EXISTS
FOR (e:Entity) REQUIRE (e.graph, e.key) IS UNIQUE
