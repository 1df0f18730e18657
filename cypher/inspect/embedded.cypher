// inspect.embedded() :: (name :: STRING, corpus :: BOOLEAN, embeddings :: INT, dimension :: INT)
// How many embeddings of which size the passages of each corpus and the entities of each knowledge graph
// may have, the most first.
// mode: READ
MATCH (c:Corpus|KnowledgeGraph)
WHERE c.encoder IS NOT NULL
RETURN c.name AS name, c:Corpus AS corpus,
       CASE WHEN c:Corpus THEN COUNT { MATCH (:Passage {corpus: c.name}) }
         ELSE COUNT { MATCH (:Entity {graph: c.name}) } END AS embeddings,
       c.dimension AS dimension
ORDER BY embeddings DESC, name
