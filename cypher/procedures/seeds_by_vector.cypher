// kgp.seedsByVector(vector :: LIST OF FLOAT, corpus :: STRING, configuration = {} :: MAP) :: (passage :: NODE, score :: FLOAT)
// The passages of a corpus nearest to a vector by cosine similarity, best first.
// mode: READ
// task: find passages
// check: configuration, corpus
// option: limit = 10 :: INT (0 to 10000), how many at most
// example: MATCH (p:Passage {corpus: 'demo'}) WITH p.embedding AS v LIMIT 1 CALL custom.kgp.seedsByVector(v, 'demo', {limit: 5}) YIELD passage, score RETURN passage, score
MATCH (c:Corpus {name: $corpus})
WITH c, $vector AS vector, $configuration.limit AS depth
WHERE depth > 0
// include: nearest
// The index holds vectors in fewer bits, so that its best are scored again.
WITH depth, node, vector, score ORDER BY score DESC, node.id
WITH depth, vector, collect(node) AS near
UNWIND near[..2 * depth] AS passage
WITH depth, passage, 2 * vector.similarity.cosine(passage.embedding, vector) - 1 AS score
ORDER BY score DESC, passage.id
WITH depth, collect({passage: passage, score: score}) AS ranked
UNWIND ranked[..depth] AS row
RETURN row.passage AS passage, row.score AS score
