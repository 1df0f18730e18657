// explore.writtenNames(graph :: STRING, sample = 5000 :: INT, limit = 50 :: INT) :: (type :: STRING, names :: LIST OF STRING)
// How the entities of each type are written: some names in which a later word has letters, from a sample of a knowledge graph.
// mode: READ
MATCH (e:Entity {graph: $graph})
WHERE e.key IS NOT NULL
// In the order of an index, and then of the last letters: the same mixture in every database.
WITH e ORDER BY e.graph, e.key LIMIT $sample
WHERE e.name =~ '(?s).*\\s\\p{L}.*'
WITH e ORDER BY reverse(e.key)
WITH coalesce(e.type, '') AS type, collect(e.name)[..$limit] AS names
RETURN type, names
