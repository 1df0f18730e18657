// connect.removeSharedEntities(corpus :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Removes the shared-entity edges of a corpus, in batches that commit as they go.
// mode: WRITE
MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  MATCH (p)-[s:SHARES_ENTITY]->()
  DELETE s
  RETURN count(s) AS gone
} IN TRANSACTIONS OF $batch ROWS
RETURN sum(gone) AS removed
