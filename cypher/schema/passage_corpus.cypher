// schema.passageCorpus() :: ()
// The passages of one corpus are found without a scan.
// mode: SCHEMA
CREATE INDEX kgp_passage_corpus IF NOT EXISTS FOR (p:Passage) ON (p.corpus)
