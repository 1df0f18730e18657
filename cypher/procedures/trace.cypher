// kgp.trace(trace :: STRING) :: (question :: NODE, visit :: RELATIONSHIP, passage :: NODE, edge :: RELATIONSHIP, neighbour :: NODE)
// A stored traversal as a graph, by its id or the first characters of it (of several, the latest): the
// passages in the order in which they were visited, each with the other one before it on its path and the
// edge between the two, where there is one. `ask --trace` stores them.
// mode: READ
// task: see
// check: trace
// example: MATCH (q:Question {corpus: 'demo'}) WITH q.id AS id LIMIT 1 CALL custom.kgp.trace(id) YIELD question, visit, passage, edge, neighbour RETURN question, visit, passage, edge, neighbour
MATCH (q:Question)
WHERE q.id STARTS WITH $trace
WITH q AS question ORDER BY q.askedAt DESC, q.id LIMIT 1
OPTIONAL MATCH (question)-[visit:VISITED|LED_TO_ANSWER]->(passage:Passage)
CALL (question, visit, passage) {
  OPTIONAL MATCH (question)-[former:VISITED|LED_TO_ANSWER {order: visit.path[-2]}]->(neighbour:Passage)
  OPTIONAL MATCH (neighbour)-[edge:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(passage)
  WHERE type(edge) = visit.edge
  WITH neighbour, edge
  ORDER BY coalesce(edge.namesTitle, false) DESC
  LIMIT 1
  RETURN neighbour, edge
}
RETURN question, visit, passage, edge, neighbour
ORDER BY visit.order
