// explore.joined(entities :: LIST OF STRING, others :: LIST OF STRING, graph :: STRING) :: (entity :: STRING, other :: STRING, edge :: RELATIONSHIP)
// The relationships between two lists of entities (by id), in either direction: one of each pair.
// mode: READ
UNWIND $entities AS id
MATCH (e:Entity {id: id})
UNWIND $others AS to
MATCH (o:Entity {id: to})
CALL (e, o) {
  MATCH (e)-[r]-(o) WHERE r.graph = $graph
  RETURN r ORDER BY type(r), r.id LIMIT 1
}
RETURN id AS entity, to AS other, r AS edge
ORDER BY entity, other
