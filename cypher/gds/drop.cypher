// gds.drop(graph :: STRING) :: (graph :: STRING)
// Drops an in-memory graph of GDS if it is there.
// mode: READ
CALL gds.graph.drop($graph, false) YIELD graphName
RETURN graphName AS graph
