// loadKg.finish(graph :: STRING, load :: STRING) :: (graph :: STRING)
// Ends a load; a graph that keeps its mark was not loaded to the end.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph, load: $load})
REMOVE g.load
RETURN g.name AS graph
