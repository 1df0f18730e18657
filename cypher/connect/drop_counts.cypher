// connect.dropCounts(corpus :: STRING, graph = null :: STRING) :: (parts :: INT)
// Deletes what is kept for one graph of a corpus, or for all, so that all texts are counted again.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})-[:HAS_COUNTS]->(n:Counts)
WHERE n.graph = coalesce($graph, n.graph)
DETACH DELETE n
RETURN count(*) AS parts
