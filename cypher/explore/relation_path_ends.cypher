// explore.relationPathEnds(entity :: STRING, graph :: STRING, paths :: LIST OF MAP, limit = 20 :: INT, listed = 0 :: INT) :: (path :: INT, ends :: INT, ids :: LIST OF STRING, routes :: LIST OF LIST)
// Where relation paths (maps of relations and forward) lead from an entity (by id): how many entities, and
// the ids of the first `listed`, and a route of triples to each of the first `limit`; those that share
// triples stand together.
// mode: READ
MATCH (e:Entity {id: $entity})
UNWIND range(0, size($paths) - 1) AS number
CALL (e, number) {
  WITH $paths[number] AS path, 0 AS at, [{node: e, route: []}] AS reached
  // include: walked_step
  // include: walked_step
  // include: walked_step
  // include: walked_step
  RETURN reached
}
RETURN number AS path, size(reached) AS ends, [way IN reached[..$listed] | way.node.id] AS ids,
       [way IN reached[..$limit] | [r IN way.route | {
         id: r.id, head: startNode(r).name, relation: type(r), tail: endNode(r).name,
         head_id: startNode(r).id, tail_id: endNode(r).id,
         head_type: coalesce(startNode(r).type, ''), tail_type: coalesce(endNode(r).type, '')
       }]] AS routes
ORDER BY path
