// schema.entityId() :: ()
// An entity of a knowledge graph is known by its id, a hash of the graph and the entity's key.
// mode: SCHEMA
CREATE CONSTRAINT kgp_entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE e.id IS UNIQUE
