// schema.documentCorpus() :: ()
// The documents of one corpus are found without a scan.
// mode: SCHEMA
CREATE INDEX kgp_document_corpus IF NOT EXISTS FOR (d:Document) ON (d.corpus)
