// kgp.passageNeighbours(passage :: ANY, configuration = {} :: MAP) :: (neighbour :: NODE, score :: FLOAT, edge :: RELATIONSHIP, reason :: STRING)
// The neighbours of a passage (a node or its id), with the edge that says most about each, and the reason.
// mode: READ
// option: edges = [] :: LIST OF STRING, the types of edges to follow; all when empty
// option: limit = 10 :: INT (0 to 10000), how many at most
// example: MATCH (p:Passage {corpus: 'demo'}) WITH p LIMIT 1 CALL custom.kgp.passageNeighbours(p, {edges: ['SHARES_KEYWORD'], limit: 5}) YIELD neighbour, score, edge, reason RETURN neighbour, score, edge, reason
// include: configuration
WITH ['SHARES_KEYWORD', 'SHARES_ENTITY', 'SIMILAR_ST', 'SIMILAR_MDR', 'NEXT'] AS types
WITH types, [type IN $configuration.edges WHERE NOT type IN types] AS unknown
CALL apoc.util.validate(size(unknown) > 0, 'there is no edge type %s (there are: %s)',
  [apoc.text.join(unknown, ', '), apoc.text.join(types, ', ')])
WITH coalesce(apoc.any.property($passage, 'id'), $passage) AS id
OPTIONAL MATCH (p:Passage {id: id})
CALL apoc.util.validate(p IS NULL, 'there is no passage with the id %s', [id])
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
