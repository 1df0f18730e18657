// loadKg.deleteRelationships(graph :: STRING) :: (relationships :: INT)
// Deletes the relationships of a knowledge graph, in batches that commit as they go, so that no
// transaction has to hold those of a hub.
// mode: WRITE
MATCH (e:Entity {graph: $graph})-[r]->()
WHERE e.key IS NOT NULL AND r.graph = $graph
CALL (r) {
  DELETE r
} IN TRANSACTIONS OF 10000 ROWS
RETURN count(*) AS relationships
