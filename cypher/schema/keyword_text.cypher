// schema.keywordText() :: ()
// A keyword is known by its text within its corpus.
// mode: SCHEMA
CREATE CONSTRAINT kgp_keyword_text IF NOT EXISTS
FOR (k:Keyword) REQUIRE (k.corpus, k.text) IS UNIQUE
