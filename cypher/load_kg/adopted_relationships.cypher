// loadKg.adoptedRelationships(graph :: STRING, labels :: LIST OF STRING, property :: STRING) :: (head :: STRING, relation :: STRING, tail :: STRING)
// The relationships between nodes of these labels, by the names that a property gives them.
// mode: READ
UNWIND $labels AS label
MATCH (a:$(label))
WHERE NOT coalesce(a.graph = $graph, false)
WITH DISTINCT a
MATCH (a)-[r]->(b)
WHERE any(label IN labels(b) WHERE label IN $labels) AND NOT coalesce(b.graph = $graph, false)
RETURN toStringOrNull(a[$property]) AS head, type(r) AS relation, toStringOrNull(b[$property]) AS tail
