// explore.entities(entities = [] :: LIST OF STRING, graph = null :: STRING) :: (id :: STRING, name :: STRING, type :: STRING, aliases :: LIST OF STRING)
// Entities by id, with their other names; or all of a knowledge graph, for evaluation.
// mode: READ
CALL () {
  UNWIND $entities AS id
  MATCH (e:Entity {id: id})
  RETURN e, '' AS key
  UNION ALL
  MATCH (e:Entity {graph: $graph})
  WHERE e.key IS NOT NULL
  RETURN e, e.key AS key
}
RETURN e.id AS id, e.name AS name, coalesce(e.type, '') AS type, coalesce(e.aliases, []) AS aliases
ORDER BY key
