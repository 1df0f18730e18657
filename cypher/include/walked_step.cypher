// One step along a given relation path. Needs `path`, a map of relations and forward, `at`, the number of
// the step, and `reached`, maps of a node and its route (a list of relationships). Leaves all of them
// after the step; a path that is at its end stays as it is. An entity that several lead to keeps the way
// by the one that leads to most, so that few triples reach many; each step goes on with 2,000 at most.
CALL (path, at, reached) {
  UNWIND CASE WHEN at < size(path.relations) THEN reached ELSE [] END AS from
  CALL (path, at, from) {
    WITH from.node AS n, path.relations[at] AS relation, path.forward[at] AS forward,
         // The way just come is not gone back.
         CASE WHEN at > 0 AND path.forward[at] <> path.forward[at - 1] THEN last(from.route) END AS back
    CALL (n, relation, forward) {
      WITH n, relation, forward WHERE forward
      MATCH (n)-[r:$(relation)]->(m:Entity) WHERE r.graph = $graph
      RETURN r, m
      UNION ALL
      WITH n, relation, forward WHERE NOT forward
      MATCH (n)<-[r:$(relation)]-(m:Entity) WHERE r.graph = $graph
      RETURN r, m
    }
    WITH r, m, back WHERE back IS NULL OR r <> back
    WITH r, m ORDER BY m.key LIMIT 2000
    RETURN collect({node: m, edge: r}) AS branches
  }
  WITH from, branches ORDER BY size(branches) DESC, from.node.key
  UNWIND branches AS b
  WITH b.node AS node, collect({route: from.route, edge: b.edge})[0] AS first
  LIMIT 2000
  RETURN collect({node: node, route: first.route + first.edge}) AS next
}
WITH path, at + 1 AS at, CASE WHEN at < size(path.relations) THEN next ELSE reached END AS reached
