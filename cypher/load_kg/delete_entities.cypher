// loadKg.deleteEntities(graph :: STRING) :: (entities :: INT)
// Deletes the entities of a knowledge graph with their relationships, in batches that commit as they
// go.
// mode: WRITE
MATCH (e:Entity {graph: $graph})
WHERE e.key IS NOT NULL
CALL (e) {
  DETACH DELETE e
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS entities
