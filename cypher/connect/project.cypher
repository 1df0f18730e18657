// connect.project(graph :: STRING, corpus :: STRING, property = 'embedding' :: STRING) :: (nodes :: INT)
// Projects the passages of a corpus with their embeddings (`embedding` or `mdrEmbedding`) into an in-memory
// graph of GDS.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WITH p, p[$property] AS embedding
WHERE embedding IS NOT NULL
WITH gds.graph.project($graph, p, null,
  {sourceNodeProperties: {embedding: embedding}, targetNodeProperties: null}) AS g
RETURN g.nodeCount AS nodes
