// schema.columnCorpus() :: ()
// The columns of one corpus by name, to see whether a question names one.
// mode: SCHEMA
CREATE INDEX kgp_column_corpus IF NOT EXISTS FOR (c:Column) ON (c.corpus, c.norm)
