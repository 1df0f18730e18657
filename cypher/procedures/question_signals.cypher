// kgp.questionSignals(question :: STRING, vector :: LIST OF FLOAT, corpus :: STRING, depth = 60 :: INT, hits = 300 :: INT) :: (passage :: STRING, lexical :: FLOAT, cosine :: FLOAT, named :: FLOAT)
// What speaks for a passage before anything was visited, for the learned agent: its BM25 score (the
// best `hits`), its cosine to the question (the best `depth`), and how much of a title the question
// names belongs to it. What a passage is not among the best of is null.
// mode: READ
// example: CALL custom.kgp.questionSignals('Who built the lighthouse?', [], 'demo')
MATCH (c:Corpus {name: $corpus})
WITH c, $depth AS depth,
  [found IN apoc.text.regexGroups(toLower(normalize($question, NFKC)),
  '[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]|(?:(?![々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])[\\p{L}\\p{N}\\p{M}])+')
  | found[0]][..200] AS words
CALL (c, depth, words) {
  WITH c, apoc.text.join(words, ' ') AS terms, words
  WHERE size(words) > 0
  CALL db.index.fulltext.queryNodes('kgp_passage_text',
    '+scope:' + c.scope + '^0 +(title:(' + terms + ') text:(' + terms + '))', {limit: $hits})
  YIELD node, score
  // Of a question of stop words alone nothing is left but the scope, which scores 0.
  WHERE score > 0
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
      // And where that is not enough, this corpus is scanned.
      WITH c, nearest, depth WHERE size(nearest) < depth
      MATCH (p:Passage {corpus: c.name})
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
  WITH node, max(size(split(k.text, ' ')) / (1.0 + log(k.documentFrequency))) AS named
  ORDER BY named DESC, node.id
  LIMIT 20
  RETURN node, null AS lexical, null AS cosine, named
}
WITH node, max(lexical) AS lexical, max(cosine) AS cosine, max(named) AS named
RETURN node.id AS passage, lexical, cosine, named
ORDER BY passage
