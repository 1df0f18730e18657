// connect.finishCounts(corpus :: STRING, graph :: STRING, run :: STRING, of :: STRING) :: (parts :: INT)
// Makes the parts that a run of `connect` has written what is kept for one graph of a corpus, and deletes those
// of other runs; `of` says what the graph is made with, as `connect.finish` keeps it. Where another run has begun
// since, nothing is kept, for what stands there at the end is of both.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})-[:HAS_COUNTS]->(n:Counts {graph: $graph})
WITH n, n.run = $run AND
  $run = coalesce(CASE $graph WHEN 'keywords' THEN c.keywordsOf ELSE c.entitiesOf END, $run) AS kept
FOREACH (_ IN CASE WHEN kept THEN [1] ELSE [] END | SET n.of = $of)
FOREACH (gone IN CASE WHEN kept THEN [] ELSE [n] END | DETACH DELETE gone)
RETURN count(*) AS parts
