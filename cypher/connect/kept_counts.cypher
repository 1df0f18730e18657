// connect.keptCounts(corpus :: STRING, graph :: STRING, of :: STRING) :: (data :: ANY)
// What is kept for one graph of a corpus that was made with `of`, in its parts.
// mode: READ
MATCH (c:Corpus {name: $corpus})-[:HAS_COUNTS]->(n:Counts {graph: $graph, of: $of})
RETURN n.data AS data
ORDER BY n.part
