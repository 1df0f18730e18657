// explore.writtenNames(graph :: STRING, sample = 5000 :: INT, limit = 50 :: INT) :: (type :: STRING, names :: LIST OF STRING)
// How the entities of each type are written: some names of several words, from a sample of a knowledge graph.
// mode: READ
MATCH (e:Entity {graph: $graph})
WITH e LIMIT $sample
WHERE e.name CONTAINS ' '
WITH coalesce(e.type, '') AS type, collect(e.name)[..$limit] AS names
RETURN type, names
