// schema.tableCorpus() :: ()
// The tables of one corpus, by their printed label.
// mode: SCHEMA
CREATE INDEX kgp_table_corpus IF NOT EXISTS FOR (t:Table) ON (t.corpus, t.label)
