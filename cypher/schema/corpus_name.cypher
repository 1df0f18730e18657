// schema.corpusName() :: ()
// A corpus is known by its name.
// mode: SCHEMA
CREATE CONSTRAINT kgp_corpus_name IF NOT EXISTS FOR (c:Corpus) REQUIRE c.name IS UNIQUE
