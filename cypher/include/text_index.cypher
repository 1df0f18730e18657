// Makes the full-text index of the passages on a `shelf`, by the `analyzer` of their language, unless
// it is there; words of a language without one stay as they stand. Both must be one word, since they
// get into the statement.
CALL (shelf, analyzer) {
  CALL apoc.cypher.runSchema('CREATE FULLTEXT INDEX kgp_passage_' + shelf + ' IF NOT EXISTS FOR (p:'
    + apoc.text.capitalize(shelf) + 'Passage) ON EACH [p.title, p.text, p.scope] '
    + 'OPTIONS {indexConfig: {`fulltext.analyzer`: "'
    + CASE analyzer WHEN 'other' THEN 'standard-no-stop-words' ELSE analyzer END + '"}}', {})
  YIELD value
  RETURN count(*) AS made
}
