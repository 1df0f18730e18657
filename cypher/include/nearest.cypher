// The passages of the corpus `c` nearest to `vector`: at least `depth` of them, where there are so
// many. Leaves `node` and `score`, the cosine from 0 to 1 as the index has it, in no order. A large corpus
// has none until its vectors are all there, and with them their index, which is asked for some more: it
// finds nearly all of them then, in a time that grows with what it is asked for.
CALL (c, vector, depth) {
  WITH c, vector, depth WHERE c.shelf = c.scope AND c.small IS NULL AND EXISTS {
    (c)-[:HAS_GRAPH]->(g:Graph {type: 'similarity'}) WHERE g.madeAt IS NOT NULL
  }
  CALL db.index.vector.queryNodes('kgp_vectors_' + c.scope, depth + 30, vector) YIELD node, score
  RETURN node, score
  UNION ALL
  // A small corpus has no index of its vectors and is scanned; a mere WHERE would come after the scan.
  UNWIND CASE WHEN c.shelf = c.scope AND c.small IS NULL THEN [] ELSE [c.name] END AS scanned
  MATCH (p:Passage {corpus: scanned})
  WHERE p.embedding IS NOT NULL
  RETURN p AS node, vector.similarity.cosine(p.embedding, vector) AS score
}
