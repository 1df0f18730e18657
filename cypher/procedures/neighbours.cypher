// kgp.neighbours(node :: STRING, edges = [] :: LIST OF STRING, limit = 10 :: INT) :: (neighbour :: NODE, edge :: STRING, weight :: FLOAT, reason :: STRING)
// The neighbours of a passage, or of an entity of a knowledge graph, by its id, over chosen edge types
// (all when the list is empty), with the reason. An entity's neighbours weigh the less the more
// relationships they have; of a hub at most 20,000 relationships are looked at.
// mode: READ
// example: MATCH (p:Passage {corpus: 'demo'}) WITH p.id AS id LIMIT 1 CALL custom.kgp.neighbours(id, ['SHARES_KEYWORD'], 5) YIELD neighbour, edge, weight, reason RETURN neighbour, edge, weight, reason
CALL () {
  MATCH (:Passage {id: $node})-[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(neighbour:Passage)
  WHERE size($edges) = 0 OR type(e) IN $edges
  WITH neighbour, e, coalesce(e.weight, e.score, 0.0) AS weight
  ORDER BY weight DESC, type(e)
  // Two passages may be joined by several edges: the weightiest one speaks for the pair.
  WITH neighbour, collect({edge: e, weight: weight})[0] AS best
  RETURN neighbour, type(best.edge) AS edge, best.weight AS weight,
         CASE type(best.edge)
           WHEN 'SHARES_KEYWORD' THEN apoc.text.join(best.edge.keywords[..5], ', ')
           WHEN 'SHARES_ENTITY' THEN apoc.text.join(best.edge.entities[..5], ', ')
           WHEN 'NEXT' THEN 'next in the document'
           ELSE 'cosine ' + toString(round(2 * best.weight - 1, 2)) END AS reason
  UNION
  MATCH (entity:Entity {id: $node})
  CALL (entity) {
    MATCH (entity)-[e]-(neighbour:Entity)
    WHERE e.graph = entity.graph AND (size($edges) = 0 OR type(e) IN $edges)
    RETURN e, neighbour LIMIT 20000
  }
  WITH entity, neighbour, e ORDER BY type(e), startNode(e) = entity DESC
  WITH entity, neighbour, collect(e) AS between
  RETURN neighbour, type(between[0]) AS edge, 1.0 / log(2 + COUNT { (neighbour)--() }) AS weight,
         apoc.text.join([e IN between[..3] |
           startNode(e).name + ' -> ' + type(e) + ' -> ' + endNode(e).name], ', ') AS reason
}
RETURN neighbour, edge, weight, reason
ORDER BY weight DESC, neighbour.id
LIMIT $limit
