// schema.passageCjk() :: ()
// Full-text search over passages with Chinese, Japanese or Korean text: by pairs of characters, since
// these scripts write no spaces between words or join particles to them.
// mode: SCHEMA
CREATE FULLTEXT INDEX kgp_passage_cjk IF NOT EXISTS
FOR (p:CjkPassage) ON EACH [p.title, p.text, p.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}}
