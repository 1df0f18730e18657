// inspect.corpora() :: (name :: STRING, documents :: INT, passages :: INT, pages :: INT, tables :: INT, keywords :: INT, encoder :: STRING, dimension :: INT, withoutKeywords :: INT, withoutEntities :: INT, withoutEmbedding :: INT)
// All corpora by name, what is in them, and how many passages `connect` has not seen.
// mode: READ
MATCH (c:Corpus)
CALL (c) {
  MATCH (p:Passage {corpus: c.name})
  RETURN count(p) AS passages,
         sum(CASE WHEN NOT EXISTS { (p)-[:HAS_KEYWORD]->() } THEN 1 ELSE 0 END) AS withoutKeywords,
         sum(CASE WHEN p.linkedBy IS NULL THEN 1 ELSE 0 END) AS withoutEntities,
         sum(CASE WHEN p.embedding IS NULL THEN 1 ELSE 0 END) AS withoutEmbedding
}
RETURN c.name AS name, COUNT { MATCH (:Document {corpus: c.name}) } AS documents, passages,
       COUNT { MATCH (:Page {corpus: c.name}) } AS pages,
       COUNT { MATCH (:Table {corpus: c.name}) } AS tables,
       COUNT { MATCH (k:Keyword {corpus: c.name}) WHERE k.text >= '' } AS keywords, c.encoder AS encoder,
       c.dimension AS dimension, withoutKeywords, withoutEntities, withoutEmbedding
ORDER BY name
