// connect.begin(corpus :: STRING, graph :: STRING, keep = true :: BOOLEAN) :: (corpus :: STRING, run :: STRING)
// Marks one graph of a corpus (keywords, entities, similarity, mdr) as being made until `connect.finish`,
// and returns what names this run; null where another one is at it or was left unfinished. A graph that
// is there can be asked meanwhile, unless `keep` is false.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
WITH c, $graph IN coalesce(c.making, []) AS beside, randomUUID() AS run
SET c.connected = [g IN coalesce(c.connected, []) WHERE $keep OR g <> $graph], c.complete = false,
    c.making = [g IN coalesce(c.making, []) WHERE g <> $graph] + [$graph],
    c.keywordsOf = CASE $graph WHEN 'keywords' THEN run ELSE c.keywordsOf END,
    c.entitiesOf = CASE $graph WHEN 'entities' THEN run ELSE c.entitiesOf END
RETURN c.name AS corpus, CASE WHEN NOT beside THEN run END AS run
