// connect.removeEmbeddings(corpus :: STRING, space = 'st' :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Removes the embeddings of a space ('st' or 'mdr') from a corpus, in batches that commit as they go,
// then forgets their encoder.
// mode: WRITE
OPTIONAL MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  FOREACH (q IN CASE $space WHEN 'mdr' THEN [] ELSE [p] END | REMOVE q.embedding)
  FOREACH (q IN CASE $space WHEN 'mdr' THEN [p] ELSE [] END | REMOVE q.mdrEmbedding)
} IN TRANSACTIONS OF $batch ROWS
WITH count(p) AS removed
MATCH (c:Corpus {name: $corpus})
FOREACH (d IN CASE $space WHEN 'mdr' THEN [] ELSE [c] END | REMOVE d.encoder, d.dimension)
FOREACH (d IN CASE $space WHEN 'mdr' THEN [c] ELSE [] END |
  REMOVE d.mdrEncoder, d.mdrDimension, d.mdrFingerprint)
RETURN removed
