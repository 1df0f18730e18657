// traverse.questionSignals(question :: STRING, vector :: LIST OF FLOAT, corpus :: STRING, depth = 60 :: INT, hits = 300 :: INT) :: (passage :: STRING, lexical :: FLOAT, cosine :: FLOAT, named :: FLOAT)
// What speaks for a passage before anything was visited, for the learned agent: its BM25 score (the
// best `hits`), its cosine to the question (the best `depth`), and how much of a title the question
// names belongs to it. What a passage is not among the best of is null.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $depth AS depth, $question AS text
WITH c, depth,
  // include: words
  AS words
CALL (c, depth, words) {
  WITH c, apoc.text.join(words, ' ') AS terms, $hits AS most, words
  WHERE size(words) > 0
  // include: search
  RETURN node, score AS lexical, null AS cosine, null AS named
  UNION ALL
  WITH c, depth
  WHERE size($vector) > 0
  CALL (c, depth) {
    CALL db.index.vector.queryNodes('kgp_passage_embedding', 2 * depth, $vector) YIELD node, score
    WITH c, depth, [f IN collect({node: node, score: score}) WHERE f.node.corpus = c.name] AS near
    CALL (c, depth, near) {
      // The index serves all corpora; where others crowd this one out, more of it is asked for.
      WITH near, depth WHERE size(near) >= depth
      RETURN near AS nearest
      UNION ALL
      WITH c, near, depth WHERE size(near) < depth
      CALL (c, depth) {
        CALL db.index.vector.queryNodes('kgp_passage_embedding', 20 * depth, $vector)
        YIELD node, score
        WITH c, node, score WHERE node.corpus = c.name
        RETURN collect({node: node, score: score}) AS nearest
      }
      RETURN nearest
    }
    CALL (c, depth, nearest) {
      WITH nearest, depth WHERE size(nearest) >= depth
      UNWIND nearest AS found
      RETURN found.node AS node, found.score AS score
      UNION ALL
      // And where that is not enough, this corpus is scanned; a mere WHERE would come after the scan.
      UNWIND CASE WHEN size(nearest) < depth THEN [c.name] ELSE [] END AS scanned
      MATCH (p:Passage {corpus: scanned})
      WHERE p.embedding IS NOT NULL
      RETURN p AS node, vector.similarity.cosine(p.embedding, $vector) AS score
    }
    RETURN node, score
  }
  WITH node, score ORDER BY score DESC, node.id LIMIT $depth
  RETURN node, null AS lexical, 2 * score - 1 AS cosine, null AS named
  UNION ALL
  WITH c, words
  WHERE size(words) > 0
  // include: titles
  MATCH (k)<-[:HAS_KEYWORD {owned: true}]-(node:Passage)
  WITH node, max(
    // include: rarity
    ) AS named
  ORDER BY named DESC, node.id
  LIMIT 20
  RETURN node, null AS lexical, null AS cosine, named
}
WITH node, max(lexical) AS lexical, max(cosine) AS cosine, max(named) AS named
RETURN node.id AS passage, lexical, cosine, named
ORDER BY passage
