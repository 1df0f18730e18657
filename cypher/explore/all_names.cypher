// explore.allNames(graph :: STRING) :: (id :: STRING, name :: STRING, type :: STRING)
// The id, name and type (empty: none) of every entity of a knowledge graph, for evaluation.
// mode: READ
MATCH (e:Entity {graph: $graph})
WHERE e.key IS NOT NULL
RETURN e.id AS id, e.name AS name, coalesce(e.type, '') AS type
ORDER BY e.key
