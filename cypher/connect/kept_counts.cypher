// connect.keptCounts(corpus :: STRING, graph :: STRING, madeOf :: STRING) :: (data :: ANY)
// What is kept for one graph of a corpus that was made of the same settings, in its parts.
// mode: READ
MATCH (:Corpus {name: $corpus})-[:HAS_GRAPH]->(g:Graph {type: $graph, countsOf: $madeOf})-[:HAS_COUNTS]->(n:Counts)
WHERE n.run = g.countedBy
RETURN n.data AS data
ORDER BY n.part
