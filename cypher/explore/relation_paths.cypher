// explore.relationPaths(entity :: STRING, graph :: STRING, weights :: MAP, hops = 3 :: INT, beam = 40 :: INT, sample = 25 :: INT, fan = 300 :: INT) :: (relations :: LIST OF STRING, forward :: LIST OF BOOLEAN, ends :: INT)
// The relation paths that begin at an entity (by id), with directions, up to `hops` steps: of each length
// the `beam` paths whose relations have the highest weights. `ends` counts the entities that one reaches
// from a sample of `sample` entities a step; of a hub with over `fan` relationships some of each type
// are followed.
// mode: READ
MATCH (e:Entity {id: $entity})
WITH [] AS found, [{steps: [], nodes: [e], weight: 0.0, at: 0}] AS frontier, $hops AS left
// include: relation_step
// include: relation_step
// include: relation_step
// include: relation_step
UNWIND found AS path
RETURN [s IN path.steps | s.relation] AS relations, [s IN path.steps | s.forward] AS forward,
       size(path.nodes) AS ends
