// kgp.neighbourhood(entity :: STRING, graph :: STRING, relations = null :: LIST OF STRING, limit = 25 :: INT) :: (entity :: NODE, edge :: RELATIONSHIP, neighbour :: NODE, relation :: STRING, outward :: BOOLEAN)
// One hop round an entity (an id or a name), over chosen relationship types (all when none is given):
// those types first that it has fewest of, and the neighbours that have fewest relationships, so that a
// hub shows some of everything. At most 20,000 relationships are looked at.
// mode: READ
// example: CALL custom.kgp.neighbourhood('Fatigue', 'demo')
CALL () {
  MATCH (e:Entity {id: $entity}) WHERE e.graph = $graph RETURN e
  UNION
  MATCH (e:Entity {
    graph: $graph,
    key: trim(toLower(apoc.text.replace(normalize($entity, NFKC), '(?U)[\\s_]+', ' ')))
  })
  RETURN e
}
CALL (e) {
  MATCH (e)-[r]-(n:Entity)
  WHERE r.graph = $graph AND (size(coalesce($relations, [])) = 0 OR type(r) IN $relations)
  RETURN r, n LIMIT 20000
}
WITH e, r, n, type(r) AS relation, startNode(r) = e AS outward, COUNT { (n)--() } AS degree
ORDER BY degree, n.key
WITH e, relation, outward, collect({edge: r, node: n}) AS found
UNWIND range(0, CASE WHEN size(found) < $limit THEN size(found) ELSE $limit END - 1) AS nth
WITH e, relation, outward, found[nth] AS one, nth
ORDER BY nth, relation, outward DESC
LIMIT $limit
RETURN e AS entity, one.edge AS edge, one.node AS neighbour, relation, outward
ORDER BY relation, outward DESC, nth
