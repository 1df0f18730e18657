// loadKg.deleteContent(graph :: STRING) :: (relationships :: INT, entities :: INT)
// Deletes the relationships of a knowledge graph, then its entities, in batches that commit as they go,
// so that no transaction has to hold those of a hub.
// mode: WRITE
MATCH (e:Entity {graph: $graph})-[r]->()
WHERE e.key IS NOT NULL AND r.graph = $graph
CALL (r) {
  DELETE r
} IN TRANSACTIONS OF 10000 ROWS
WITH count(*) AS relationships
MATCH (e:Entity {graph: $graph})
WHERE e.key IS NOT NULL
CALL (e) {
  DETACH DELETE e
} IN TRANSACTIONS OF 1000 ROWS
RETURN relationships, count(*) AS entities
