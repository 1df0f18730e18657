// kgp.seedsByVector(vector :: LIST OF FLOAT, corpus :: STRING, configuration = {} :: MAP) :: (passage :: NODE, score :: FLOAT)
// The passages of a corpus nearest to a vector by cosine similarity, best first.
// The index serves all corpora; where another corpus crowds this one out, this one is scanned.
// mode: READ
// option: limit = 10 :: INT (0 to 10000), how many at most
// example: MATCH (p:Passage {corpus: 'demo'}) WITH p.embedding AS v LIMIT 1 CALL custom.kgp.seedsByVector(v, 'demo', {limit: 5}) YIELD passage, score RETURN passage, score
// include: configuration
// include: corpus
WITH c, $configuration.limit AS most
WHERE most > 0
CALL (c, most) {
  CALL db.index.vector.queryNodes('kgp_passage_embedding', 10 * most, $vector) YIELD node
  WITH c, collect(node) AS found
  RETURN [one IN found WHERE one.corpus = c.name] AS near
}
CALL (c, most, near) {
  // The index holds vectors in fewer bits, so that its best are scored again below.
  WITH near, most WHERE size(near) >= most
  UNWIND near[..2 * most] AS passage
  RETURN passage
  UNION ALL
  // A mere WHERE would come after the scan.
  UNWIND CASE WHEN size(near) < most THEN [c.name] ELSE [] END AS scanned
  MATCH (passage:Passage {corpus: scanned})
  WHERE passage.embedding IS NOT NULL
  RETURN passage
}
WITH most, passage, 2 * vector.similarity.cosine(passage.embedding, $vector) - 1 AS score
ORDER BY score DESC, passage.id
WITH most, collect({passage: passage, score: score}) AS ranked
UNWIND ranked[..most] AS row
RETURN row.passage AS passage, row.score AS score
