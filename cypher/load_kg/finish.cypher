// loadKg.finish(graph :: STRING, load :: STRING) :: (graph :: STRING)
// Ends a load and writes down the graph's relationship types and some of its names; a graph that keeps
// its mark was not loaded to the end.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph, load: $load})
CALL (g) {
  MATCH (e:Entity {graph: g.name})-[r]->()
  WHERE e.key IS NOT NULL AND r.graph = g.name
  WITH DISTINCT type(r) AS relation ORDER BY relation
  RETURN collect(relation) AS relations
}
CALL (g) {
  UNWIND split('0 2 a b c d e f g h i j k l m n o p q r s t u v w y z', ' ') AS letter
  CALL (g, letter) {
    MATCH (e:Entity {graph: g.name}) WHERE e.key >= letter
    RETURN e.name AS name LIMIT 4
  }
  RETURN collect(DISTINCT name) AS names
}
SET g.relations = relations, g.names = names
REMOVE g.load
RETURN g.name AS graph
