// connect.begin(corpus :: STRING, graph :: STRING, keep = true :: BOOLEAN) :: (corpus :: STRING, run :: STRING)
// Marks one graph of a corpus (keywords, entities, similarity, mdr) as unfinished until `connect.finish`, and
// returns what names this run; null where another one is at it or was cut short. A graph that is there can
// be asked meanwhile, unless `keep` is false.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
// Holds the corpus, so that two runs make one node.
SET c.complete = false
MERGE (c)-[:HAS_GRAPH]->(g:Graph {type: $graph})
WITH c, g, coalesce(g.unfinished, false) AS beside, randomUUID() AS run
SET g.corpus = c.name, g.unfinished = true, g.run = run, g.madeAt = CASE WHEN $keep THEN g.madeAt END
REMOVE g.madeOf
RETURN c.name AS corpus, CASE WHEN NOT beside THEN run END AS run
