// loadKg.begin(graph :: STRING, scope :: STRING, load :: STRING) :: (encoder :: STRING)
// Makes the node of a knowledge graph where there is none, and hands the graph to one load: any other
// that is still running will write no more. Returns the encoder of its embeddings.
// mode: WRITE
MERGE (g:KnowledgeGraph {name: $graph})
ON CREATE SET g.createdAt = datetime(), g.scope = $scope, g.title = $graph
SET g.load = $load
RETURN g.encoder AS encoder
