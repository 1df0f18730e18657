// connect.begin(corpus :: STRING, graph :: STRING, keep = true :: BOOLEAN) :: (corpus :: STRING)
// Marks one graph of a corpus (keywords, entities, similarity, mdr) as unfinished until `connect.finish`:
// what it was made with is forgotten. A graph that is there can be asked meanwhile, unless `keep` is false.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.connected = [g IN coalesce(c.connected, []) WHERE $keep OR g <> $graph], c.complete = false,
    c.keywordSettings = CASE $graph WHEN 'keywords' THEN null ELSE c.keywordSettings END,
    c.entitySettings = CASE $graph WHEN 'entities' THEN null ELSE c.entitySettings END,
    c.similaritySettings = CASE $graph WHEN 'similarity' THEN null ELSE c.similaritySettings END,
    c.mdrSettings = CASE $graph WHEN 'mdr' THEN null ELSE c.mdrSettings END
RETURN c.name AS corpus
