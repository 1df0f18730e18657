// load.ownIndexes(corpus :: STRING) :: (index :: STRING, vectors :: STRING)
// Makes the indexes of one large corpus, unless they are there; they are online a while later: full text and, where
// it is searched by vectors or has some, one of no fixed dimension, so that each corpus may have its own encoder. To
// make that one of all vectors at once is a third of the work of adding them a transaction at a time.
// mode: WRITE
MATCH (c:Corpus|KgpImport {name: $corpus})
WITH c, c.scope AS shelf, c.language AS analyzer
// include: text_index
WITH c, EXISTS {
  (c)-[:HAS_GRAPH]->(g:Graph {type: 'similarity'}) WHERE g.madeAt IS NOT NULL
} OR EXISTS {
  MATCH (p:Passage {corpus: c.name}) WHERE p.embedding IS NOT NULL
} AS indexed
CALL (c, indexed) {
  WITH c WHERE indexed
  CALL apoc.cypher.runSchema('CREATE VECTOR INDEX kgp_vectors_' + c.scope + ' IF NOT EXISTS FOR (p:'
    + apoc.text.capitalize(c.scope) + 'Passage) ON (p.embedding) '
    + 'OPTIONS {indexConfig: {`vector.similarity_function`: "cosine"}}', {})
  YIELD value
  RETURN count(*) AS created
}
RETURN 'kgp_passage_' + c.scope AS index, CASE WHEN indexed THEN 'kgp_vectors_' + c.scope END AS vectors
