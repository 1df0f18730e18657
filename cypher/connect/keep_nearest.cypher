// connect.keepNearest(corpus :: STRING, type = 'SIMILAR_ST' :: STRING, neighbours = 10 :: INT, batch = 2000 :: INT) :: (removed :: INT)
// Removes all similarity edges of a type (SIMILAR_ST, SIMILAR_MDR) but each passage's `neighbours`
// with the highest scores, in batches that commit as they go.
// mode: WRITE
MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  MATCH (p)-[s:$($type)]->(q:Passage)
  WITH s ORDER BY s.score DESC, q.id SKIP $neighbours
  DELETE s
  RETURN count(s) AS gone
} IN TRANSACTIONS OF $batch ROWS
RETURN coalesce(sum(gone), 0) AS removed
