// Raises an error unless the knowledge graph `g` has each of `entities`, ids or names.
// Leaves the first twelve as the list `given` of {node, at}, where `at` is the place in `entities`.
CALL (g, entities) {
  UNWIND range(0, size(entities) - 1) AS at
  OPTIONAL CALL (g, entities, at) {
    MATCH (e:Entity {id: entities[at]}) WHERE e.graph = g.name RETURN e
    UNION
    MATCH (e:Entity {
      graph: g.name,
      key: trim(toLower(apoc.text.replace(normalize(entities[at], NFKC), '(?U)[\\s_]+', ' ')))
    })
    RETURN e
  }
  WITH entities, collect(CASE WHEN e IS NULL THEN entities[at] END) AS unknown, collect([e, at]) AS found
  CALL apoc.util.validate(size(unknown) > 0, 'the knowledge graph %s has no entity named %s',
    [$graph, apoc.text.join(unknown, ', ')])
  UNWIND found AS one
  WITH one[0] AS e, min(one[1]) AS at ORDER BY at LIMIT 12
  RETURN collect({node: e, at: at}) AS given
}
