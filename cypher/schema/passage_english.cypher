// schema.passageEnglish() :: ()
// Full-text search over title and text of the small corpora in English; `scope` is one token per
// corpus that narrows the search.
// mode: SCHEMA
CREATE FULLTEXT INDEX kgp_passage_english IF NOT EXISTS
FOR (p:EnglishPassage) ON EACH [p.title, p.text, p.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
