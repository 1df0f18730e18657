// load.textIndex(name :: STRING, label :: STRING, analyzer :: STRING) :: ()
// Makes the full-text index of the passages with a label, the corpus's own or that of its language
// (GermanPassage), unless it is there.
// mode: SCHEMA
CREATE FULLTEXT INDEX $name IF NOT EXISTS FOR (p:`$label`) ON EACH [p.title, p.text, p.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer}};
