// upgrade.0004TableCorpus() :: ()
// Drops the index over the former property; the schema makes it anew over `label`.
// mode: SCHEMA
DROP INDEX kgp_table_corpus IF EXISTS
