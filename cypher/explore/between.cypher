// explore.between(entities :: LIST OF STRING, others :: LIST OF STRING, graph :: STRING) :: (entity :: STRING, neighbour :: STRING, edge :: RELATIONSHIP)
// The relationships between two lists of entities (by id), in either direction.
// mode: READ
UNWIND $entities AS id
MATCH (e:Entity {id: id})
UNWIND $others AS other
MATCH (o:Entity {id: other})
MATCH (e)-[r]-(o)
WHERE r.graph = $graph
RETURN id AS entity, other AS neighbour, r AS edge
ORDER BY entity, neighbour, type(r), r.id
