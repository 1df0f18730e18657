// One step of relation paths. Needs `frontier`, maps of steps (a list of {relation, forward}), nodes,
// weight and their place `at`, and `left`, the steps still to make. Leaves both with one step more, at
// most `beam` paths, the weightiest first, each with at most `sample` of its nodes, and adds them to
// `found`.
CALL (frontier, left) {
  UNWIND CASE WHEN left > 0 THEN frontier ELSE [] END AS f
  UNWIND f.nodes AS n
  // A node that many paths reach is looked at once.
  WITH n, collect(f) AS paths
  CALL (n) {
    CALL (n) {
      WITH n WHERE COUNT { (n)--() } <= $fan
      MATCH (n)-[r]-(m:Entity) WHERE r.graph = $graph
      RETURN type(r) AS relation, startNode(r) = n AS forward, m
      UNION ALL
      // Of a hub, some of every type in each direction; only these are looked at.
      WITH n WHERE COUNT { (n)--() } > $fan
      CALL (n) {
        MATCH (n)-[r]->(m)
        RETURN type(r) AS relation, true AS forward, collect(m)[..$sample] AS some
        UNION ALL
        MATCH (n)<-[r]-(m)
        RETURN type(r) AS relation, false AS forward, collect(m)[..$sample] AS some
      }
      UNWIND some AS m
      WITH relation, forward, m
      WHERE m:Entity AND m.graph = $graph
      RETURN relation, forward, m
    }
    RETURN relation, forward, collect(DISTINCT m)[..$sample] AS nodes
  }
  UNWIND paths AS f
  // Grouped by numbers and names: maps as keys would be compared row by row.
  WITH f.at AS at, relation, forward, collect(f)[0] AS f, collect(nodes) AS nodes
  WITH f.steps + [{relation: relation, forward: forward}] AS steps, nodes,
       f.weight + coalesce($weights[relation], 0.0) + CASE WHEN forward THEN 0.0 ELSE -0.02 END AS weight
  ORDER BY weight DESC, [s IN steps | s.relation], [s IN steps | s.forward]
  LIMIT $beam
  // A node that several ways reach is one.
  WITH steps, weight, reduce(all = [], some IN nodes | all + some) AS nodes
  WITH steps, weight, COLLECT { UNWIND nodes AS node RETURN DISTINCT node LIMIT $sample } AS nodes
  WITH collect({steps: steps, weight: weight, nodes: nodes}) AS made
  UNWIND range(0, size(made) - 1) AS at
  WITH made[at] AS path, at
  RETURN collect(path {.*, at: at}) AS next
}
WITH found + next AS found, left - 1 AS left, next AS frontier
