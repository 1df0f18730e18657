// The first twelve of `entities`, ids or names, that the knowledge graph `g` has, as the list `given` of
// {node, at}, where `at` is the place in `entities`.
CALL (g, entities) {
  UNWIND range(0, size(entities) - 1) AS at
  WITH g, at, entities[at] AS named
  // include: entity
  WITH e, min(at) AS at WHERE e IS NOT NULL
  WITH e, at ORDER BY at LIMIT 12
  RETURN collect({node: e, at: at}) AS given
}
