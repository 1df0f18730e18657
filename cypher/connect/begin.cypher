// connect.begin(corpus :: STRING, graph :: STRING, keep = true :: BOOLEAN) :: (corpus :: STRING)
// Marks one graph of a corpus (keywords, entities, similarity, mdr) as being made until `connect.finish`.
// A graph that is there can be asked meanwhile, unless `keep` is false.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.connected = [g IN coalesce(c.connected, []) WHERE $keep OR g <> $graph], c.complete = false,
    c.making = [g IN coalesce(c.making, []) WHERE g <> $graph] + [$graph]
RETURN c.name AS corpus
