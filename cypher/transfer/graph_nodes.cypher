// transfer.graphNodes(name :: STRING) :: (rank :: INT, key :: STRING, node :: STRING)
// All entities of a knowledge graph, as `transfer.corpusNodes` returns those of a corpus.
// mode: READ
MATCH (n:Entity {graph: $name})
WHERE n.key IS NOT NULL
RETURN 0 AS rank, n.key AS key, elementId(n) AS node
