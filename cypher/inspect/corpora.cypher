// inspect.corpora() :: (name :: STRING, documents :: INT, passages :: INT, pages :: INT, tables :: INT, keywords :: INT, encoder :: STRING, dimension :: INT, unconnected :: MAP, indexes :: MAP)
// All corpora by name, what is in them, and how many passages `connect` has not seen. Passages are read one by one
// only where some are known to be in none of a corpus's graphs.
// mode: READ
MATCH (c:Corpus)
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(g:Graph)
WITH c, collect(CASE WHEN g.madeAt IS NOT NULL THEN g.type END) AS connected,
     head(collect(CASE g.type WHEN 'similarity' THEN g END)) AS embedded,
     COUNT { MATCH (:Passage {corpus: c.name}) } AS passages
CALL (c, connected, passages) {
  WITH c, connected, passages WHERE c.complete
  RETURN CASE WHEN 'keywords' IN connected THEN 0 ELSE passages END AS withoutKeywords,
         CASE WHEN 'entities' IN connected THEN 0 ELSE passages END AS withoutEntities,
         CASE WHEN 'similarity' IN connected THEN 0 ELSE passages END AS withoutEmbedding
  UNION ALL
  WITH c WHERE NOT coalesce(c.complete, false)
  MATCH (p:Passage {corpus: c.name})
  RETURN sum(CASE WHEN p.inKeywordGraph IS NULL THEN 1 ELSE 0 END) AS withoutKeywords,
         sum(CASE WHEN p.linkedBy IS NULL THEN 1 ELSE 0 END) AS withoutEntities,
         sum(CASE WHEN p.raw IS NULL AND p.embedding IS NULL THEN 1 ELSE 0 END) AS withoutEmbedding
}
WITH c, CASE WHEN c.small THEN c.language ELSE c.shelf END AS shared, embedded, passages, sum(withoutKeywords) AS withoutKeywords, sum(withoutEntities) AS withoutEntities,
     sum(withoutEmbedding) AS withoutEmbedding
RETURN c.name AS name, COUNT { MATCH (:Document {corpus: c.name}) } AS documents, passages,
       COUNT { MATCH (:Page {corpus: c.name}) } AS pages,
       COUNT { MATCH (:Table {corpus: c.name}) } AS tables,
       COUNT { MATCH (k:Keyword {corpus: c.name}) WHERE k.text >= '' } AS keywords, embedded.encoder AS encoder,
       embedded.dimension AS dimension,
       {HAS_KEYWORD: withoutKeywords, MENTIONS: withoutEntities, SIMILAR_ST: withoutEmbedding} AS unconnected,
       {label: toUpper(left(shared, 1)) + substring(shared, 1) + 'Passage', fullText: 'kgp_passage_' + shared,
        vectors: CASE WHEN shared = c.scope AND embedded.madeAt IS NOT NULL THEN 'kgp_vectors_' + c.scope END} AS indexes
ORDER BY name
