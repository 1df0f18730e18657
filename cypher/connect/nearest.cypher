// connect.nearest(corpus :: STRING, rows :: LIST OF STRING, depth :: INT) :: (node :: STRING, other :: STRING, score :: FLOAT)
// The passages nearest to each of some (by node); the score is (1 + cosine) / 2 of the embeddings
// themselves, which an index has rounded.
// mode: READ
MATCH (c:Corpus {name: $corpus})
// The graph for which they are asked may be the first one.
WITH c {.name, .scope, .shelf, connected: ['similarity']} AS c
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row AND p.corpus = $corpus
CALL (c, p) {
  WITH c, p.embedding AS vector, $depth + 1 AS depth
  // include: nearest
  RETURN node AS q ORDER BY score DESC LIMIT $depth + 1
}
WITH row, p, q WHERE p <> q
RETURN row AS node, elementId(q) AS other,
       vector.similarity.cosine(p.embedding, q.embedding) AS score
