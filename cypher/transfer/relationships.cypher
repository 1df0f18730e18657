// transfer.relationships(nodes :: LIST OF STRING, types = null :: LIST OF STRING, graph = null :: STRING) :: (start :: STRING, type :: STRING, end :: STRING, properties :: MAP)
// The relationships that begin at nodes (by element id): those of these types, or of a knowledge graph.
// mode: READ
UNWIND $nodes AS node
MATCH (n)-[r]->(m)
WHERE elementId(n) = node AND (type(r) IN $types OR r.graph = $graph)
RETURN node AS start, type(r) AS type, elementId(m) AS end, properties(r) AS properties
