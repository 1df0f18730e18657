// schema.tableCorpus() :: ()
// The tables of one corpus, by their printed number.
// mode: SCHEMA
CREATE INDEX kgp_table_corpus IF NOT EXISTS FOR (t:Table) ON (t.corpus, t.number)
