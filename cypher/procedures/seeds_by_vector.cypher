// kgp.seedsByVector(vector :: LIST OF FLOAT, corpus :: STRING, limit = 10 :: INT) :: (passage :: NODE, score :: FLOAT)
// The passages of a corpus nearest to a vector by cosine similarity, best first.
// The index serves all corpora; where another corpus crowds this one out, this one is scanned.
// mode: READ
// example: MATCH (p:Passage {corpus: 'demo'}) WITH p.embedding AS v LIMIT 1 CALL custom.kgp.seedsByVector(v, 'demo', 5) YIELD passage, score RETURN passage, score
WITH 10 * $limit AS fetched
CALL db.index.vector.queryNodes('kgp_passage_embedding', fetched, $vector) YIELD node, score
WITH [found IN collect({passage: node, score: score}) WHERE found.passage.corpus = $corpus] AS near
CALL (near) {
  WITH near WHERE size(near) >= $limit
  UNWIND near AS found
  RETURN found.passage AS passage, found.score AS score
  UNION ALL
  WITH near WHERE size(near) < $limit
  MATCH (p:Passage {corpus: $corpus})
  WHERE p.embedding IS NOT NULL
  RETURN p AS passage, vector.similarity.cosine(p.embedding, $vector) AS score
}
RETURN passage, 2 * score - 1 AS score
ORDER BY score DESC, passage.id
LIMIT $limit
