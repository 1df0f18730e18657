// connect.removeEmbeddings(corpus :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Forgets the encoder of a corpus and removes its embeddings, in batches that commit as they go.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
REMOVE c.encoder, c.dimension
WITH c
MATCH (p:Passage {corpus: c.name})
CALL (p) {
  REMOVE p.embedding
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS removed
