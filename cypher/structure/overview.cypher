// structure.overview(corpus :: STRING, limit = 10 :: INT) :: (passage :: STRING)
// The first passages of the longest documents of a corpus: one of each, then the next ones.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WITH d, COUNT { (d)-[:HAS_PASSAGE]->() } AS passages
ORDER BY passages DESC, d.title, d.source
LIMIT $limit
MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
WHERE p.position < $limit
RETURN p.id AS passage
ORDER BY p.position, passages DESC, d.title, d.source
LIMIT $limit
