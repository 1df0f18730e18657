// loadKg.adoptedNodes(graph :: STRING, labels :: LIST OF STRING, property :: STRING) :: (node :: STRING, name :: STRING, type :: STRING)
// The nodes of any of these labels, with the text of a property as name and the first of the labels
// as type; those of the knowledge graph itself are left out.
// mode: READ
UNWIND range(0, size($labels) - 1) AS i
WITH i, $labels[i] AS label
MATCH (n:$(label))
WHERE NOT coalesce(n.graph = $graph, false)
WITH n, min(i) AS first
RETURN elementId(n) AS node, toStringOrNull(n[$property]) AS name, $labels[first] AS type
