// connect.nearest(corpus :: STRING, rows :: LIST OF STRING, depth :: INT) :: (node :: STRING, other :: STRING, score :: FLOAT)
// The passages nearest to each of some (by node), also while their graph is being made; the score is
// (1 + cosine) / 2 of the embeddings themselves, which an index has rounded.
// mode: READ
MATCH (c:Corpus {name: $corpus})
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row AND p.corpus = $corpus
CALL (c, p) {
  WITH c, p WHERE c.shelf = c.scope
  CALL db.index.vector.queryNodes('kgp_vectors_' + c.scope, $depth + 31, p.embedding) YIELD node, score
  RETURN node AS q ORDER BY score DESC LIMIT $depth + 1
  UNION ALL
  // A small corpus has no index of its own and is scanned; a mere WHERE would come after the scan.
  UNWIND CASE WHEN c.shelf = c.scope THEN [] ELSE [c.name] END AS scanned
  MATCH (q:Passage {corpus: scanned}) WHERE q.embedding IS NOT NULL
  RETURN q ORDER BY vector.similarity.cosine(q.embedding, p.embedding) DESC LIMIT $depth + 1
}
WITH row, p, q WHERE p <> q
RETURN row AS node, elementId(q) AS other,
       vector.similarity.cosine(p.embedding, q.embedding) AS score
