// loadKg.finish(graph :: STRING, load :: STRING) :: (graph :: STRING)
// Ends a load and writes down the graph's relationship types and some of its names; a graph that keeps
// its mark was not loaded to the end.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph, load: $load})
// include: graph_contents
SET g.relations = relations, g.names = names
REMOVE g.load
RETURN g.name AS graph
