// connect.begin(corpus :: STRING, graph :: STRING) :: (corpus :: STRING)
// Marks one graph of a corpus (keywords, entities, similarity, mdr) as unfinished until `connect.finish`.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.connected = [g IN coalesce(c.connected, []) WHERE g <> $graph], c.complete = false
RETURN c.name AS corpus
