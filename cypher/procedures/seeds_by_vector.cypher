// kgp.seedsByVector(vector :: LIST OF FLOAT, corpus :: STRING, limit = 10 :: INT) :: (passage :: NODE, score :: FLOAT)
// The passages of a corpus nearest to a vector by cosine similarity, best first.
// The index serves all corpora; where another corpus crowds this one out, this one is scanned.
// mode: READ
// example: MATCH (p:Passage {corpus: 'demo'}) WITH p.embedding AS v LIMIT 1 CALL custom.kgp.seedsByVector(v, 'demo', 5) YIELD passage, score RETURN passage, score
WITH 10 * $limit AS fetched
WHERE fetched > 0
CALL db.index.vector.queryNodes('kgp_passage_embedding', fetched, $vector) YIELD node
WITH [found IN collect(node) WHERE found.corpus = $corpus] AS near
CALL (near) {
  // The index holds vectors in fewer bits, so that its best are scored again below.
  WITH near WHERE size(near) >= $limit
  UNWIND near[..2 * $limit] AS passage
  RETURN passage
  UNION ALL
  WITH near WHERE size(near) < $limit
  MATCH (passage:Passage {corpus: $corpus})
  WHERE passage.embedding IS NOT NULL
  RETURN passage
}
RETURN passage, 2 * vector.similarity.cosine(passage.embedding, $vector) - 1 AS score
ORDER BY score DESC, passage.id
LIMIT $limit
