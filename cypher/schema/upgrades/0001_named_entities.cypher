// upgrade.0001NamedEntities(batch = 5000 :: INT) :: (changed :: INT)
// Gives the entities of corpora a label of their own; they shared that of knowledge graphs.
// mode: WRITE
MATCH (e:Entity)
WHERE e.corpus IS NOT NULL AND e.key IS NULL
CALL (e) {
  SET e:NamedEntity
  REMOVE e:Entity
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS changed
