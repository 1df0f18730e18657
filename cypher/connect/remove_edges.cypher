// connect.removeEdges(corpus :: STRING, type :: STRING, marks = null :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Removes the edges of a type that go out from the passages of a corpus, and what passages have noted of them
// (the property `marks`), in batches that commit as they go.
// mode: WRITE
MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  FOREACH (_ IN CASE WHEN $marks IS NULL THEN [] ELSE [1] END | REMOVE p[$marks])
  WITH p
  MATCH (p)-[e:$($type)]->()
  DELETE e
  RETURN count(e) AS gone
} IN TRANSACTIONS OF $batch ROWS
RETURN coalesce(sum(gone), 0) AS removed
