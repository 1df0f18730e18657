// connect.keepCounts(corpus :: STRING, graph :: STRING, run :: STRING, part :: INT, data :: ANY) :: (part :: INT)
// Keeps a part of what a `run` of `connect` counted for one graph of a corpus (keywords, entities), which
// `connect.finish` makes valid.
// mode: WRITE
MATCH (:Corpus {name: $corpus})-[:HAS_GRAPH]->(g:Graph {type: $graph})
CREATE (g)-[:HAS_COUNTS]->(n:Counts {run: $run, part: $part, data: $data})
RETURN n.part AS part
