// Makes both indexes of the large corpus `c`, unless they are there: full text, and vectors of no
// fixed dimension, so that each corpus may have its own encoder.
WITH c, c.scope AS shelf, c.language AS analyzer
// include: text_index
CALL (c) {
  CALL apoc.cypher.runSchema('CREATE VECTOR INDEX kgp_vectors_' + c.scope + ' IF NOT EXISTS FOR (p:'
    + apoc.text.capitalize(c.scope) + 'Passage) ON (p.embedding) '
    + 'OPTIONS {indexConfig: {`vector.similarity_function`: "cosine"}}', {})
  YIELD value
  RETURN count(*) AS created
}
