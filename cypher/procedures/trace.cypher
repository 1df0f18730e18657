// kgp.trace(question :: STRING) :: (question :: NODE, visit :: RELATIONSHIP, passage :: NODE, edge :: RELATIONSHIP, before :: NODE)
// A kept traversal as a graph, by the id of its question or the first characters of it (of several,
// the latest): the passages in the order in which they were visited, each with the one before it on its
// path and the edge between the two, where there is one. `ask --trace` keeps them.
// mode: READ
// example: MATCH (q:Question {corpus: 'demo'}) WITH q.id AS id LIMIT 1 CALL custom.kgp.trace(id) YIELD question, visit, passage, edge, before RETURN question, visit, passage, edge, before
OPTIONAL MATCH (q:Question)
WHERE q.id STARTS WITH $question
WITH q AS question ORDER BY q.askedAt DESC, q.id LIMIT 1
CALL apoc.util.validate(question IS NULL, 'no question is kept under the id %s', [$question])
OPTIONAL MATCH (question)-[visit:VISITED]->(passage:Passage)
CALL (question, visit, passage) {
  OPTIONAL MATCH (question)-[former:VISITED {order: visit.path[-2]}]->(before:Passage)
  OPTIONAL MATCH (before)-[edge:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(passage)
  WHERE type(edge) = visit.edge
  WITH before, edge
  ORDER BY coalesce(edge.namesTitle, false) DESC
  LIMIT 1
  RETURN before, edge
}
RETURN question, visit, passage, edge, before
ORDER BY visit.order
