// kgp.relationPath(entity :: ANY, graph :: STRING, configuration = {} :: MAP) :: (end :: NODE, path :: LIST OF NODE, edges :: LIST OF RELATIONSHIP)
// Where a relation path leads from an entity (a node, its id or its name): each end with one way to it.
// `relations` are relationship types in the order in which they are followed; one is followed along its
// direction, or against it where it begins with `<`.
// mode: READ
// task: knowledge graphs
// check: configuration, relations, graph, entity
// option: relations = [] :: LIST OF STRING, the relationship types in order, one to four; without them all that are one step away
// option: limit = 25 :: INT (0 to 10000), how many ends at most
// example: CALL custom.kgp.relationPath('Fatigue', 'demo', {relations: ['<has_symptom', 'eased_by_food']})
WITH [$entity] AS entities
MATCH (g:KnowledgeGraph {name: $graph})
// include: entities
WITH given[0].node AS e, $configuration.relations AS relations
CALL (e, relations) {
  WITH e, relations WHERE size(relations) = 0
  MATCH (e)-[r]-(m:Entity) WHERE r.graph = $graph
  RETURN m AS node, [r] AS route
  ORDER BY type(r), m.key LIMIT $configuration.limit
  UNION ALL
  WITH e, relations WHERE size(relations) > 0
  WITH 0 AS at, [{node: e, route: []}] AS reached,
       {relations: [r IN relations | CASE WHEN r STARTS WITH '<' THEN substring(r, 1) ELSE r END],
        forward: [r IN relations | NOT r STARTS WITH '<']} AS path
  // include: walked_step
  // include: walked_step
  // include: walked_step
  // include: walked_step
  UNWIND reached[..$configuration.limit] AS way
  RETURN way.node AS node, way.route AS route
}
RETURN node AS end,
       reduce(nodes = [e], r IN route |
         nodes + CASE WHEN startNode(r) = last(nodes) THEN endNode(r) ELSE startNode(r) END) AS path,
       route AS edges
