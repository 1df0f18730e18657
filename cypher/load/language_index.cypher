// load.languageIndex(language :: STRING) :: (index :: STRING)
// Makes the full-text index of the corpora of a language, unless it is there, and waits for it. Such
// a corpus's passages have the language's label (GermanPassage) beside Passage. The language must be
// the name of an analyzer, so that no other text gets into the statement.
// mode: WRITE
CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer
WITH analyzer WHERE analyzer = $language
WITH analyzer, 'kgp_passage_' + analyzer AS index
CALL (analyzer, index) {
  CALL apoc.cypher.runSchema('CREATE FULLTEXT INDEX ' + index + ' IF NOT EXISTS FOR (p:'
    + apoc.text.capitalize(analyzer) + 'Passage) ON EACH [p.title, p.text, p.scope] '
    + 'OPTIONS {indexConfig: {`fulltext.analyzer`: "' + analyzer + '"}}', {})
  YIELD value
  RETURN count(*) AS made
}
RETURN index
