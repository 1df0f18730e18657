// connect.removeKeywords(corpus :: STRING, batch = 5000 :: INT) :: (removed :: INT)
// Removes the keywords of a corpus with their links, in batches that commit as they go.
// mode: WRITE
MATCH (k:Keyword {corpus: $corpus})
CALL (k) {
  DETACH DELETE k
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS removed
