// connect.removeSimilar(corpus :: STRING, type = 'SIMILAR_ST' :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Removes the edges of a type (SIMILAR_ST, SIMILAR_MDR, SHARES_KEYWORD, SHARES_ENTITY, MENTIONS) from
// a corpus, in batches that commit as they go.
// mode: WRITE
MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  MATCH (p)-[s:SIMILAR_ST|SIMILAR_MDR|SHARES_KEYWORD|SHARES_ENTITY|MENTIONS]->()
  WHERE type(s) = $type
  DELETE s
  RETURN count(s) AS gone
} IN TRANSACTIONS OF $batch ROWS
RETURN sum(gone) AS removed
