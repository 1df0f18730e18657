// connect.similar(graph :: STRING, neighbours = 10 :: INT, concurrency = 2 :: INT) :: (edges :: INT, seconds :: FLOAT)
// Writes SIMILAR_ST edges from each passage to its nearest by cosine similarity, found by GDS KNN;
// `score` is as GDS gives it: (1 + cosine) / 2.
// mode: WRITE
CALL gds.knn.write($graph, {
  nodeProperties: {embedding: 'COSINE'}, topK: $neighbours, sampleRate: 1.0, deltaThreshold: 0.0,
  maxIterations: 20, concurrency: $concurrency,
  writeRelationshipType: 'SIMILAR_ST', writeProperty: 'score'
}) YIELD relationshipsWritten, computeMillis
RETURN relationshipsWritten AS edges, computeMillis / 1000.0 AS seconds
