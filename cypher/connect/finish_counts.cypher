// connect.finishCounts(corpus :: STRING, graph :: STRING, run :: STRING, of :: STRING) :: (parts :: INT)
// Makes the parts that a run has written what is kept for one graph of a corpus, and deletes those of other
// runs; `of` says what the graph is made with, as `connect.finish` keeps it.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})-[:HAS_COUNTS]->(n:Counts {graph: $graph})
FOREACH (_ IN CASE n.run WHEN $run THEN [1] ELSE [] END | SET n.of = $of)
FOREACH (gone IN CASE n.run WHEN $run THEN [] ELSE [n] END | DETACH DELETE gone)
RETURN count(*) AS parts
