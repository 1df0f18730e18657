// kgp.passageNeighbours(passage :: ANY, configuration = {} :: MAP) :: (neighbour :: NODE, score :: FLOAT, edge :: RELATIONSHIP, reason :: STRING)
// The neighbours of a passage (a node or its id), with the edge that says most about each, and the reason.
// mode: READ
// task: find passages
// check: configuration, edges, passage
// option: edges = [] :: LIST OF STRING, the types of edges to follow; all when empty
// option: limit = 10 :: INT (0 to 10000), how many at most
// example: MATCH (p:Passage {corpus: 'demo'}) WITH p LIMIT 1 CALL custom.kgp.passageNeighbours(p, {edges: ['SHARES_KEYWORD'], limit: 5}) YIELD neighbour, score, edge, reason RETURN neighbour, score, edge, reason
MATCH (p:Passage {id: $passage})
CALL (p) {
  MATCH (p)-[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(n:Passage)
  WHERE size($configuration.edges) = 0 OR type(e) IN $configuration.edges
  WITH n, e, coalesce(e.weight, e.score, 0.0) AS weight
  ORDER BY weight DESC, type(e)
  // Two passages may be joined by several edges: the weightiest one speaks for the pair.
  WITH n, collect({edge: e, weight: weight})[0] AS best
  ORDER BY best.weight DESC, n.id
  LIMIT $configuration.limit
  RETURN n, best.weight AS score, best.edge AS e
}
RETURN n AS neighbour, score, e AS edge,
       // include: reason
       AS reason
ORDER BY score DESC, neighbour.id
