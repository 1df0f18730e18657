// gds.knnMemory(passages :: INT, dimension :: INT, neighbours :: INT, concurrency = 2 :: INT) :: (least :: INT, most :: INT, share :: FLOAT)
// The bytes that a KNN graph of so many embeddings takes of the server's heap by the estimate of GDS, and
// the least as a share of the whole heap. The estimate counts eight bytes for a property, whatever is in
// it, so that every two numbers of an embedding, of four bytes each, are named as one.
// mode: READ
CALL gds.knn.write.estimate({
  nodeProjection: '*', relationshipProjection: '*', nodeCount: $passages, relationshipCount: 0,
  nodeProperties: [number IN range(1, ($dimension + 1) / 2) | 'embedding' + number]
}, {
  nodeProperties: {embedding1: 'COSINE'}, topK: $neighbours, sampleRate: 1.0, deltaThreshold: 0.0,
  maxIterations: 20, concurrency: $concurrency,
  writeRelationshipType: 'SIMILAR_ST', writeProperty: 'score'
}) YIELD bytesMin, bytesMax, heapPercentageMin
RETURN bytesMin AS least, bytesMax AS most, heapPercentageMin AS share
