// schema.pageCorpus() :: ()
// The pages of one corpus, by number.
// mode: SCHEMA
CREATE INDEX kgp_page_corpus IF NOT EXISTS FOR (p:Page) ON (p.corpus, p.number)
