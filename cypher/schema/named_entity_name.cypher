// schema.namedEntityName() :: ()
// A named entity, which no document is about, is known by its name within its corpus.
// mode: SCHEMA
CREATE CONSTRAINT kgp_named_entity_name IF NOT EXISTS
FOR (e:NamedEntity) REQUIRE (e.corpus, e.name) IS UNIQUE
