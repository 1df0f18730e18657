// connect.project(graph :: STRING, corpus :: STRING) :: (nodes :: INT)
// Projects the embedded passages of a corpus into an in-memory graph of GDS.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WHERE p.embedding IS NOT NULL
WITH gds.graph.project($graph, p, null,
  {sourceNodeProperties: {embedding: p.embedding}, targetNodeProperties: null}) AS g
RETURN g.nodeCount AS nodes
