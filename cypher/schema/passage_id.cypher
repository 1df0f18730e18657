// schema.passageId() :: ()
// A passage is known by its id, a hash of its document, position and text.
// mode: SCHEMA
CREATE CONSTRAINT kgp_passage_id IF NOT EXISTS FOR (p:Passage) REQUIRE p.id IS UNIQUE
