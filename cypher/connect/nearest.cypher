// connect.nearest(corpus :: STRING, rows :: LIST OF STRING, depth :: INT) :: (node :: STRING, other :: STRING, score :: FLOAT)
// The passages nearest to each of some (by node), of a corpus that has a vector index of its own; the
// score is (1 + cosine) / 2 of the embeddings themselves, which the index has rounded.
// mode: READ
MATCH (c:Corpus {name: $corpus})
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row AND p.corpus = $corpus
CALL (c, p) {
  CALL db.index.vector.queryNodes('kgp_vectors_' + c.scope, $depth + 1, p.embedding) YIELD node
  WHERE node <> p
  RETURN node AS q
}
RETURN row AS node, elementId(q) AS other,
       vector.similarity.cosine(p.embedding, q.embedding) AS score
