// connect.removeEmbeddings(corpus :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Removes the embeddings of a corpus, in batches that commit as they go, then forgets its encoder.
// mode: WRITE
OPTIONAL MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  REMOVE p.embedding
} IN TRANSACTIONS OF $batch ROWS
WITH count(p) AS removed
MATCH (c:Corpus {name: $corpus})
REMOVE c.encoder, c.dimension
RETURN removed
