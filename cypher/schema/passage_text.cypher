// schema.passageText() :: ()
// Full-text search over title and text; `scope` is one token per corpus that narrows the search.
// mode: SCHEMA
CREATE FULLTEXT INDEX kgp_passage_text IF NOT EXISTS
FOR (p:Passage) ON EACH [p.title, p.text, p.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
