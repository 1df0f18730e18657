// kgp.hybridSeeds(question :: STRING, vector :: LIST OF FLOAT, corpus :: STRING, limit = 10 :: INT, named = 0.3 :: FLOAT) :: (passage :: NODE, fused :: FLOAT, score :: FLOAT, reason :: STRING)
// Starting passages by reciprocal rank fusion of full text, vector (unless it is empty) and titles that
// the question names (unless `named` is 0), best first. `score` is on the agents' scale: cosine, a
// share of the relative BM25, and `named` for a passage whose title is named.
// mode: READ
// example: CALL custom.kgp.hybridSeeds('Who built the lighthouse?', [], 'demo', 5)
MATCH (c:Corpus {name: $corpus})
WITH c, CASE WHEN $limit < 50 THEN 100 ELSE 2 * $limit END AS depth,
  [found IN apoc.text.regexGroups(toLower(normalize($question, NFKC)),
  '[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]|(?:(?![々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])[\\p{L}\\p{N}\\p{M}])+')
  | found[0]][..200] AS words
CALL (c, depth, words) {
  WITH c, depth, apoc.text.join(words, ' ') AS terms, words
  WHERE size(words) > 0
  CALL db.index.fulltext.queryNodes('kgp_passage_text',
    '+scope:' + c.scope + '^0 +(title:(' + terms + ') text:(' + terms + '))', {limit: depth})
  YIELD node, score
  // Of a question of stop words alone nothing is left but the scope, which scores 0.
  WHERE score > 0
  WITH node, score ORDER BY score DESC, node.id
  RETURN 'words' AS list, collect({node: node, score: score}) AS ranked
  UNION ALL
  WITH c, depth
  WHERE size($vector) > 0
  CALL (c, depth) {
    CALL db.index.vector.queryNodes('kgp_passage_embedding', 10 * depth, $vector) YIELD node, score
    WITH c, depth, [f IN collect({node: node, score: score}) WHERE f.node.corpus = c.name] AS near
    CALL (c, depth, near) {
      // The index serves all corpora; where others crowd this one out, this one is scanned.
      WITH near, depth WHERE size(near) >= depth
      UNWIND near AS found
      RETURN found.node AS node, found.score AS score
      UNION ALL
      WITH c, near, depth WHERE size(near) < depth
      MATCH (p:Passage {corpus: c.name})
      WHERE p.embedding IS NOT NULL
      RETURN p AS node, vector.similarity.cosine(p.embedding, $vector) AS score
    }
    RETURN node, score
  }
  WITH depth, node, score ORDER BY score DESC, node.id
  RETURN 'meaning' AS list, collect({node: node, score: score}) AS ranked
  UNION ALL
  WITH c, words
  WHERE $named > 0 AND size(words) > 0
  UNWIND range(0, size(words) - 1) AS first
  UNWIND range(first + 1, CASE WHEN first + 12 < size(words) THEN first + 12 ELSE size(words) END)
    AS after
  MATCH (k:Keyword {corpus: c.name, text: apoc.text.join(words[first..after], ' ')})
  WHERE k.named
  WITH collect({keyword: k, first: first, after: after}) AS spans
  // A title inside a longer one that is named too ("York" in "New York") is not meant.
  UNWIND [s IN spans
    WHERE none(t IN spans WHERE t <> s AND t.first <= s.first AND t.after >= s.after)] AS span
  WITH DISTINCT span.keyword AS k
  MATCH (k)<-[:HAS_KEYWORD {owned: true}]-(node:Passage)
  WITH node, max(size(split(k.text, ' ')) / (1.0 + log(k.documentFrequency))) AS score
  ORDER BY score DESC, node.id
  LIMIT 20
  RETURN 'title' AS list, collect({node: node, score: score}) AS ranked
}
WITH depth, list, ranked[..depth] AS ranked
UNWIND range(0, size(ranked) - 1) AS rank
WITH ranked[rank].node AS passage, list, 1.0 / (60 + rank) AS part,
     CASE list WHEN 'words' THEN ranked[rank].score / ranked[0].score ELSE 0.0 END AS lexical
WITH passage, sum(part) AS fused, max(lexical) AS lexical, collect(list) AS lists
ORDER BY fused DESC, passage.id
LIMIT $limit
WITH passage, fused, lists,
     CASE WHEN size($vector) = 0 OR passage.embedding IS NULL THEN lexical
          ELSE 2 * vector.similarity.cosine(passage.embedding, $vector) - 1 + 0.3 * lexical END
       + CASE WHEN 'title' IN lists THEN $named ELSE 0.0 END AS score
RETURN passage, fused, score, apoc.text.join(lists, ' + ') AS reason
ORDER BY fused DESC, passage.id
