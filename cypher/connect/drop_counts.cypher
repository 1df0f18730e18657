// connect.dropCounts(corpus :: STRING, graph :: STRING) :: (parts :: INT)
// Deletes what is kept for one graph of a corpus, so that all texts are counted again.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})-[:HAS_COUNTS]->(n:Counts {graph: $graph})
DETACH DELETE n
RETURN count(*) AS parts
