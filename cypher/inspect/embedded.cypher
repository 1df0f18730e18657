// inspect.embedded() :: (name :: STRING, corpus :: BOOLEAN, embeddings :: INT, dimension :: INT, encoder :: STRING)
// How many embeddings of which size and encoder the passages of each corpus and the entities of each knowledge graph
// may have, the most first.
// mode: READ
CALL () {
  MATCH (c:Corpus)-[:HAS_GRAPH]->(g:Graph {type: 'similarity'})
  // A change of encoders that was cut short leaves none.
  WHERE g.dimension IS NOT NULL
  RETURN c.name AS name, true AS corpus, COUNT { MATCH (:Passage {corpus: c.name}) } AS embeddings,
         g.dimension AS dimension, g.encoder AS encoder
  UNION ALL
  MATCH (k:KnowledgeGraph)
  WHERE k.dimension IS NOT NULL
  RETURN k.name AS name, false AS corpus, COUNT { MATCH (:Entity {graph: k.name}) } AS embeddings,
         k.dimension AS dimension, k.encoder AS encoder
}
RETURN name, corpus, embeddings, dimension, encoder
ORDER BY embeddings DESC, name
