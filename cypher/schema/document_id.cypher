// schema.documentId() :: ()
// A document is known by its id, a hash of corpus, source and record.
// mode: SCHEMA
CREATE CONSTRAINT kgp_document_id IF NOT EXISTS FOR (d:Document) REQUIRE d.id IS UNIQUE
