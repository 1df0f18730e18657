// loadKg.deleteGraph(graph :: STRING) :: (graphs :: INT)
// Deletes the node of a knowledge graph, last of all, so that a deletion cut short can be finished.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph})
DETACH DELETE g
RETURN count(*) AS graphs
