// train.namedPassages(corpus :: STRING, seed = 0 :: INT, limit = 1000 :: INT, negatives = 2 :: INT) :: (title :: STRING, text :: STRING, names :: LIST OF STRING, nextTitle :: STRING, nextText :: STRING, negatives :: LIST OF MAP)
// Draws passages that name another document's title (`names`, as keywords), each with that document's
// first passage. `negatives` are the passages most similar to that one which the first does not name:
// title and text of each. The same seed draws the same ones.
// mode: READ
MATCH (p:Passage {corpus: $corpus})-[e:SHARES_KEYWORD {namesTitle: true}]->(q:Passage)
WHERE p.document <> q.document
WITH p, e, q
ORDER BY apoc.util.md5([$seed, p.id, q.id]), p.id, q.id
LIMIT $limit
MATCH (d:Document {id: p.document}), (named:Document {id: q.document})
CALL (p, q) {
  MATCH (q)-[s:SIMILAR_ST]-(n:Passage)
  WHERE n <> p AND n.document <> q.document
    AND NOT EXISTS { (p)-[:SHARES_KEYWORD {namesTitle: true}]->(n) }
  WITH n, max(s.score) AS score
  ORDER BY score DESC, n.id
  LIMIT $negatives
  MATCH (other:Document {id: n.document})
  WITH n, score, other
  ORDER BY score DESC, n.id
  RETURN collect({title: other.title, text: n.text}) AS negatives
}
RETURN d.title AS title, p.text AS text, e.keywords AS names, named.title AS nextTitle,
       q.text AS nextText, negatives
ORDER BY apoc.util.md5([$seed, p.id, q.id]), p.id, q.id
