// kgp.seeds(question :: STRING, corpus :: STRING, configuration = {} :: MAP) :: (passage :: NODE, score :: FLOAT)
// The passages of a corpus nearest to a question by full-text search (BM25), best first.
// mode: READ
// task: find passages
// check: configuration, corpus
// option: limit = 10 :: INT (0 to 10000), how many at most
// example: CALL custom.kgp.seeds('Who built the lighthouse?', 'demo', {limit: 5})
MATCH (c:Corpus {name: $corpus})
WITH c, $question AS text
WITH c, text, $configuration.limit AS most,
  // include: words
  AS words
WHERE most > 0
// include: search
RETURN node AS passage, score
ORDER BY score DESC, passage.id
