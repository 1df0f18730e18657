// explore.allNames(graph :: STRING) :: (id :: STRING, name :: STRING)
// The id and name of every entity of a knowledge graph, for benchmarks.
// mode: READ
MATCH (e:Entity {graph: $graph})
WHERE e.key IS NOT NULL
RETURN e.id AS id, e.name AS name
ORDER BY e.key
