// The passages of the corpus `c` nearest to `vector`: at least `depth` of them, where there are so
// many. Leaves `node` and `score`, the cosine from 0 to 1 as the index has it, in no order.
CALL (c, vector, depth) {
  CALL db.index.vector.queryNodes('kgp_passage_embedding', 2 * depth, vector) YIELD node, score
  WITH c, vector, depth, [f IN collect({node: node, score: score}) WHERE f.node.corpus = c.name] AS near
  CALL (c, vector, depth, near) {
    // The index serves all corpora; where others crowd this one out, more of it is asked for.
    WITH near, depth WHERE size(near) >= depth
    RETURN near AS nearest
    UNION ALL
    WITH c, vector, depth, near WHERE size(near) < depth
    CALL (c, vector, depth) {
      CALL db.index.vector.queryNodes('kgp_passage_embedding', 20 * depth, vector)
      YIELD node, score
      WITH c, node, score WHERE node.corpus = c.name
      RETURN collect({node: node, score: score}) AS nearest
    }
    RETURN nearest
  }
  CALL (c, vector, depth, nearest) {
    WITH nearest, depth WHERE size(nearest) >= depth
    UNWIND nearest AS found
    RETURN found.node AS node, found.score AS score
    UNION ALL
    // And where that is not enough, this corpus is scanned; a mere WHERE would come after the scan.
    UNWIND CASE WHEN size(nearest) < depth THEN [c.name] ELSE [] END AS scanned
    MATCH (p:Passage {corpus: scanned})
    WHERE p.embedding IS NOT NULL
    RETURN p AS node, vector.similarity.cosine(p.embedding, vector) AS score
  }
  RETURN node, score
}
