// connect.similar(graph :: STRING, type = 'SIMILAR_ST' :: STRING, neighbours = 10 :: INT, concurrency = 2 :: INT) :: (edges :: INT, seconds :: FLOAT)
// Writes edges of a type (SIMILAR_ST, SIMILAR_MDR) from each passage to its nearest by the cosine of
// the projected embeddings, found by GDS KNN; `score` is as GDS gives it: (1 + cosine) / 2.
// mode: WRITE
CALL gds.knn.write($graph, {
  nodeProperties: {embedding: 'COSINE'}, topK: $neighbours, sampleRate: 1.0, deltaThreshold: 0.0,
  maxIterations: 20, concurrency: $concurrency,
  writeRelationshipType: $type, writeProperty: 'score'
}) YIELD relationshipsWritten, computeMillis
RETURN relationshipsWritten AS edges, computeMillis / 1000.0 AS seconds
