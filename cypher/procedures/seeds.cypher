// kgp.seeds(question :: STRING, corpus :: STRING, limit = 10 :: INT) :: (passage :: NODE, score :: FLOAT)
// The passages of a corpus nearest to a question by full-text search (BM25), best first.
// mode: READ
// example: CALL custom.kgp.seeds('Who built the lighthouse?', 'demo', 5)
MATCH (c:Corpus {name: $corpus})
WITH c, [found IN apoc.text.regexGroups(toLower(normalize($question, NFKC)),
  '[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]|(?:(?![々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])[\\p{L}\\p{N}\\p{M}])+')
  | found[0]][..200] AS words
WHERE size(words) > 0 AND $limit > 0
WITH c, apoc.text.join(words, ' ') AS terms
// Only letters, digits and spaces are left of the question: nothing in it can be an operator.
CALL db.index.fulltext.queryNodes('kgp_passage_text',
  '+scope:' + c.scope + '^0 +(title:(' + terms + ') text:(' + terms + '))', {limit: $limit})
YIELD node, score
// Of a question of stop words alone nothing is left but the scope, which scores 0.
WHERE score > 0
RETURN node AS passage, score
ORDER BY score DESC, passage.id
