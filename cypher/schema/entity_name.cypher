// schema.entityName() :: ()
// An entity that no document is about is known by its name within its corpus.
// mode: SCHEMA
CREATE CONSTRAINT kgp_entity_name IF NOT EXISTS
FOR (e:Entity) REQUIRE (e.corpus, e.name) IS UNIQUE
