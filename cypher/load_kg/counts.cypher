// loadKg.counts(graph :: STRING) :: (entities :: INT, embedded :: INT, types :: LIST OF MAP, relations :: LIST OF MAP)
// What a knowledge graph holds: entities, those with an embedding, and how many of each type and
// relation, most first.
// mode: READ
CALL () {
  MATCH (e:Entity {graph: $graph})
  WHERE e.key IS NOT NULL
  WITH e.type AS type, count(e) AS count, count(e.embedding) AS embedded
  ORDER BY count DESC, type
  RETURN coalesce(sum(count), 0) AS entities, coalesce(sum(embedded), 0) AS embedded,
         collect({name: type, count: count}) AS types
}
CALL () {
  MATCH (e:Entity {graph: $graph})-[r]->()
  WHERE e.key IS NOT NULL AND r.graph = $graph
  WITH type(r) AS relation, count(r) AS count
  ORDER BY count DESC, relation
  RETURN collect({name: relation, count: count}) AS relations
}
RETURN entities, embedded, types, relations
