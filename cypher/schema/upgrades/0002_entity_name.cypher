// upgrade.0002EntityName() :: ()
// Drops the key of the entities of corpora under their former label.
// mode: SCHEMA
DROP CONSTRAINT kgp_entity_name IF EXISTS
