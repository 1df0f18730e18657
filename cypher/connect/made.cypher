// connect.made(corpus :: STRING) :: (passages :: INT, cjk :: INT, language :: STRING, keywords :: STRING, entities :: STRING)
// The passages of a corpus, those of them in Chinese, Japanese or Korean, its language, and what its keyword and its
// entity graph were made of, as `connect.finish` kept it; null where a document has changed since, or another run was
// beside it.
// mode: READ
MATCH (c:Corpus {name: $corpus})
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(k:Graph {type: 'keywords'})
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(e:Graph {type: 'entities'})
RETURN COUNT { MATCH (:Passage {corpus: c.name}) } AS passages,
       COUNT { MATCH (:CjkPassage {corpus: c.name}) } AS cjk, c.language AS language,
       k.madeOf AS keywords, e.madeOf AS entities
