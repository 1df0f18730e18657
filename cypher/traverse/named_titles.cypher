// traverse.namedTitles(question :: STRING, corpus :: STRING, limit = 10 :: INT) :: (passage :: NODE, title :: STRING, score :: FLOAT)
// The passages whose document's title is named in a question, the rarest and longest title first.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $question AS text
WITH c,
  // include: words
  AS words
// include: titles
MATCH (k)<-[:HAS_KEYWORD {owned: true}]-(passage:Passage)
WITH passage, k,
  // include: rarity
  AS score
ORDER BY score DESC, passage.id
WITH passage, collect(k.text)[0] AS title, max(score) AS score
RETURN passage, title, score
ORDER BY score DESC, passage.id
LIMIT $limit
