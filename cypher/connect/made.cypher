// connect.made(corpus :: STRING) :: (keywords :: STRING, entities :: STRING)
// What the keyword and the entity graph of a corpus were made with, as `connect.finish` kept it; null where
// a document has changed since, another run was beside it, or a passage is not in the graph.
// mode: READ
MATCH (c:Corpus {name: $corpus})
CALL (c) {
  MATCH (p:Passage {corpus: c.name})
  RETURN sum(CASE WHEN p.inKeywordGraph IS NULL THEN 1 ELSE 0 END) AS lackKeywords,
         sum(CASE WHEN p.linkedBy IS NULL THEN 1 ELSE 0 END) AS lackEntities
}
RETURN CASE WHEN lackKeywords = 0 THEN c.keywordsOf END AS keywords,
       CASE WHEN lackEntities = 0 THEN c.entitiesOf END AS entities
