// traverse.hybridSeeds(question :: STRING, vector :: LIST OF FLOAT, corpus :: STRING, limit = TraversalSettings.budget :: INT, named = TraversalSettings.named :: FLOAT) :: (passage :: NODE, fused :: FLOAT, score :: FLOAT, reason :: STRING)
// Starting passages by reciprocal rank fusion of full text, vector (unless it is empty) and titles that
// the question names (unless `named` is 0), best first. `score` is on the agents' scale: cosine, a
// share of the relative BM25, and `named` for a passage whose title is named.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $question AS text, $vector AS vector, $limit AS limit, $named AS named
WITH c, text, vector, limit, named, CASE WHEN limit < 50 THEN 100 ELSE 2 * limit END AS depth,
  // include: words
  AS words
CALL (c, text, vector, named, depth, words) {
  WITH c, text, words, depth AS most
  // include: search
  WITH node, score ORDER BY score DESC, node.id
  RETURN 'words' AS list, collect({node: node, score: score}) AS ranked
  UNION ALL
  WITH c, vector, depth
  WHERE size(vector) > 0
  // include: nearest
  WITH node, score ORDER BY score DESC, node.id
  RETURN 'meaning' AS list, collect({node: node, score: score}) AS ranked
  UNION ALL
  WITH c, named, words
  WHERE named > 0
  // include: titles
  WITH node, score ORDER BY score DESC, node.id
  RETURN 'title' AS list, collect({node: node, score: score}) AS ranked
}
WITH vector, limit, named, list, ranked[..depth] AS ranked
UNWIND range(0, size(ranked) - 1) AS rank
WITH vector, limit, named, ranked[rank].node AS passage, list, 1.0 / (60 + rank) AS part,
     CASE list WHEN 'words' THEN ranked[rank].score / ranked[0].score ELSE 0.0 END AS lexical
WITH vector, limit, named, passage, sum(part) AS fused, max(lexical) AS lexical, collect(list) AS lists
ORDER BY fused DESC, passage.id
WITH vector, limit, named,
     collect({passage: passage, fused: fused, lexical: lexical, lists: lists}) AS ranked
UNWIND ranked[..limit] AS one
WITH one.passage AS passage, one.fused AS fused,
     CASE WHEN size(vector) = 0 OR one.passage.embedding IS NULL THEN one.lexical
          ELSE 2 * vector.similarity.cosine(one.passage.embedding, vector) - 1 + 0.3 * one.lexical END
       + CASE WHEN 'title' IN one.lists THEN named ELSE 0.0 END AS score,
     substring(reduce(all = '', list IN one.lists | all + ' + ' + list), 3) AS reason
RETURN passage, fused, score, reason
ORDER BY fused DESC, passage.id
