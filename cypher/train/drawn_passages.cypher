// train.drawnPassages(corpus :: STRING, seed = 0 :: INT, limit = 1000 :: INT, negatives = 2 :: INT) :: (title :: STRING, text :: STRING, negatives :: LIST OF MAP)
// Draws passages of a corpus. `negatives` are the passages of other documents that are most similar to
// each and joined to it by no title: title and text of each. The same seed draws the same ones.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WITH p
ORDER BY apoc.util.md5([$seed, p.id]), p.id
LIMIT $limit
MATCH (d:Document {id: p.document})
CALL (p) {
  MATCH (p)-[s:SIMILAR_ST]-(n:Passage)
  WHERE n.document <> p.document
    AND NOT EXISTS { (p)-[:SHARES_KEYWORD {namesTitle: true}]-(n) }
  WITH n, max(s.score) AS score
  ORDER BY score DESC, n.id
  LIMIT $negatives
  MATCH (other:Document {id: n.document})
  WITH n, score, other
  ORDER BY score DESC, n.id
  RETURN collect({title: other.title, text: n.text}) AS negatives
}
RETURN d.title AS title, p.text AS text, negatives
ORDER BY apoc.util.md5([$seed, p.id]), p.id
