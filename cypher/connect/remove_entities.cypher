// connect.removeEntities(corpus :: STRING, batch = 5000 :: INT) :: (removed :: INT)
// Removes the entities of a corpus that no passage mentions, in batches that commit as they go.
// mode: WRITE
MATCH (e:NamedEntity {corpus: $corpus})
WHERE e.name >= '' AND NOT EXISTS { (e)<-[:MENTIONS]-() }
CALL (e) {
  DETACH DELETE e
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS removed
