// loadKg.finish(graph :: STRING, load :: STRING) :: (graph :: STRING)
// Ends a load and writes down the graph's relationship types; a graph that keeps its mark was
// not loaded to the end.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph, load: $load})
CALL (g) {
  MATCH (e:Entity {graph: g.name})-[r]->()
  WHERE e.key IS NOT NULL AND r.graph = g.name
  WITH DISTINCT type(r) AS relation ORDER BY relation
  RETURN collect(relation) AS relations
}
SET g.relations = relations
REMOVE g.load
RETURN g.name AS graph
