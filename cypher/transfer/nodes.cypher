// transfer.nodes(nodes :: LIST OF STRING) :: (node :: STRING, labels :: LIST OF STRING, properties :: MAP)
// Labels and properties of nodes, given by their element ids.
// mode: READ
UNWIND $nodes AS node
MATCH (n) WHERE elementId(n) = node
RETURN node, labels(n) AS labels, properties(n) AS properties
