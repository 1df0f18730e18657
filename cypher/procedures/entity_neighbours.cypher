// kgp.entityNeighbours(entity :: ANY, graph :: STRING, configuration = {} :: MAP) :: (entity :: NODE, edge :: RELATIONSHIP, neighbour :: NODE, relation :: STRING, outward :: BOOLEAN)
// One hop round an entity (a node, its id or its name): those relationship types first that it has
// fewest of, and the neighbours that have fewest relationships, so that a hub shows some of everything.
// At most 20,000 relationships are looked at.
// mode: READ
// task: knowledge graphs
// check: configuration, graph, entity
// option: relations = [] :: LIST OF STRING, the relationship types to follow; all when empty
// option: limit = 25 :: INT (0 to 20000), how many neighbours at most
// example: CALL custom.kgp.entityNeighbours('Fatigue', 'demo')
WITH [$entity] AS entities
MATCH (g:KnowledgeGraph {name: $graph})
// include: entities
UNWIND given AS one
WITH one.node AS e
CALL (e) {
  MATCH (e)-[r]-(n:Entity)
  WHERE r.graph = $graph
    AND (size($configuration.relations) = 0 OR type(r) IN $configuration.relations)
  RETURN r, n LIMIT 20000
}
WITH e, r, n, type(r) AS relation, startNode(r) = e AS outward, COUNT { (n)--() } AS degree,
     $configuration.limit AS most
ORDER BY degree, n.key
WITH e, most, relation, outward, collect({edge: r, node: n}) AS found
UNWIND range(0, CASE WHEN size(found) < most THEN size(found) ELSE most END - 1) AS nth
WITH e, most, relation, outward, found[nth] AS one, nth
ORDER BY nth, relation, outward DESC
WITH most, collect({e: e, one: one, relation: relation, outward: outward, nth: nth}) AS rows
UNWIND rows[..most] AS row
RETURN row.e AS entity, row.one.edge AS edge, row.one.node AS neighbour, row.relation AS relation,
       row.outward AS outward
ORDER BY relation, outward DESC, row.nth
