// connect.keepCounts(corpus :: STRING, graph :: STRING, run :: STRING, part :: INT, data :: ANY) :: (part :: INT)
// Keeps a part of what a `run` of `connect` counted for one graph of a corpus (keywords, entities); it counts
// once `connect.finishCounts` says that all parts are there.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
CREATE (c)-[:HAS_COUNTS]->(n:Counts {graph: $graph, run: $run, part: $part, data: $data})
RETURN n.part AS part
