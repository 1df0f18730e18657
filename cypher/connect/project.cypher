// connect.project(graph :: STRING, corpus :: STRING, space = 'st' :: STRING) :: (nodes :: INT)
// Projects the passages of a corpus with their embeddings of a space ('st' or 'mdr') into an in-memory
// graph of GDS.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WITH p, CASE $space WHEN 'mdr' THEN p.mdrEmbedding ELSE p.embedding END AS embedding
WHERE embedding IS NOT NULL
WITH gds.graph.project($graph, p, null,
  {sourceNodeProperties: {embedding: embedding}, targetNodeProperties: null}) AS g
RETURN g.nodeCount AS nodes
