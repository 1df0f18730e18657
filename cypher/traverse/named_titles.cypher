// traverse.namedTitles(question :: STRING, corpus :: STRING, limit = 10 :: INT) :: (passage :: NODE, title :: STRING, score :: FLOAT)
// The passages whose document's title is named in a question, the rarest and longest title first: 20 at
// most.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $question AS text
WITH c,
  // include: words
  AS words
// include: titles
RETURN node AS passage, title, score
ORDER BY score DESC, passage.id
LIMIT $limit
