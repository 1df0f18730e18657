// traverse.questionSignals(question :: STRING, vector :: LIST OF FLOAT, corpus :: STRING, depth = 60 :: INT, hits = 300 :: INT) :: (passage :: STRING, lexical :: FLOAT, cosine :: FLOAT, named :: FLOAT)
// What speaks for a passage before anything was visited, for the learned agent: its BM25 score (the
// best `hits`), its cosine to the question (the best `depth`), and how much of a title the question
// names belongs to it. What a passage is not among the best of is null.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $depth AS depth, $question AS text
WITH c, text, depth,
  // include: words
  AS words
CALL (c, text, depth, words) {
  WITH c, text, words, $hits AS most
  // include: search
  RETURN node, score AS lexical, null AS cosine, null AS named
  UNION ALL
  WITH c, depth, $vector AS vector
  WHERE size(vector) > 0
  // include: nearest
  WITH node, score ORDER BY score DESC, node.id LIMIT $depth
  RETURN node, null AS lexical, 2 * score - 1 AS cosine, null AS named
  UNION ALL
  WITH c, words
  // include: titles
  RETURN node, null AS lexical, null AS cosine, score AS named
}
WITH node, max(lexical) AS lexical, max(cosine) AS cosine, max(named) AS named
WITH node.id AS passage, lexical, cosine, named
// A passage deleted since the search has no properties any longer.
WHERE passage IS NOT NULL
RETURN passage, lexical, cosine, named
ORDER BY passage
