// loadKg.unembedded(graph :: STRING) :: (id :: STRING, name :: STRING)
// The entities of a knowledge graph that have no embedding.
// mode: READ
MATCH (e:Entity {graph: $graph})
WHERE e.key IS NOT NULL AND e.embedding IS NULL
RETURN e.id AS id, e.name AS name
ORDER BY id
