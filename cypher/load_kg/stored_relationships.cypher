// loadKg.storedRelationships(graph :: STRING) :: (ids :: LIST OF STRING)
// The ids of all relationships of a knowledge graph, a list for each relation.
// mode: READ
MATCH (e:Entity {graph: $graph})-[r]->(:Entity {graph: $graph})
WHERE e.key IS NOT NULL AND r.graph = $graph
WITH type(r) AS relation, collect(r.id) AS ids
RETURN ids
