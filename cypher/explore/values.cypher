// explore.values(entities :: LIST OF STRING, graph :: STRING, most = 500 :: INT) :: (entity :: STRING, relation :: STRING, value :: STRING, edge :: RELATIONSHIP)
// What a graph says of entities (by id) with digits in it, dates and numbers among it: names of neighbours
// with the relationship type that leads there, and properties, without a relationship. `most`
// relationships of each entity are looked at.
// mode: READ
UNWIND $entities AS id
MATCH (e:Entity {id: id})
CALL (e) {
  MATCH (e)-[r]-(m:Entity) WHERE r.graph = $graph
  WITH r, m LIMIT $most
  WITH r, m WHERE m.key =~ '.*[0-9].*'
  RETURN type(r) AS relation, m.name AS value, r AS edge
  UNION ALL
  WITH e
  UNWIND [key IN keys(e) WHERE NOT key IN
    ['id', 'graph', 'scope', 'key', 'name', 'title', 'aliases', 'type', 'embedding']] AS relation
  WITH relation, toStringOrNull(e[relation]) AS value
  WHERE value =~ '.*[0-9].*'
  RETURN relation, value, null AS edge
}
RETURN id AS entity, relation, value, edge
ORDER BY entity, relation, value
