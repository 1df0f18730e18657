// connect.removeMentions(corpus :: STRING, linker = '' :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Removes what the passages of a corpus mention, in batches that commit as they go; what `linker`
// found is kept in the passages that it is done with.
// mode: WRITE
MATCH (p:Passage {corpus: $corpus})
WHERE coalesce(p.linkedBy, '') <> $linker OR $linker = ''
CALL (p) {
  OPTIONAL MATCH (p)-[m:MENTIONS]->()
  DELETE m
  WITH p, count(m) AS gone
  REMOVE p.linkedBy
  RETURN gone
} IN TRANSACTIONS OF $batch ROWS
RETURN sum(gone) AS removed
