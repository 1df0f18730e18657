// loadKg.deleteGraph(graph :: STRING) :: (relationships :: INT, entities :: INT)
// Deletes the relationships of a knowledge graph, then its entities, in batches that commit as they go,
// so that no transaction has to hold those of a hub; and its own node last of all, so that a deletion cut
// short can be finished.
// mode: WRITE
MATCH (e:Entity {graph: $graph})-[r]->()
WHERE e.key IS NOT NULL AND r.graph = $graph
CALL (r) {
  DELETE r
} IN TRANSACTIONS OF 10000 ROWS
WITH count(*) AS relationships
OPTIONAL MATCH (e:Entity {graph: $graph})
WHERE e.key IS NOT NULL
CALL (e) {
  DETACH DELETE e
} IN TRANSACTIONS OF 1000 ROWS
WITH relationships, count(e) AS entities
OPTIONAL MATCH (g:KnowledgeGraph {name: $graph})
DETACH DELETE g
RETURN relationships, entities
