// connect.finish(corpus :: STRING, graph :: STRING, settings :: STRING) :: (corpus :: STRING)
// Marks one graph of a corpus as finished and keeps the settings it was made with.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.connected = [g IN coalesce(c.connected, []) WHERE g <> $graph] + [$graph],
    c.keywordSettings = CASE $graph WHEN 'keywords' THEN $settings ELSE c.keywordSettings END,
    c.similaritySettings = CASE $graph WHEN 'similarity' THEN $settings ELSE c.similaritySettings END,
    c.connectedAt = datetime()
WITH c
OPTIONAL MATCH (p:Passage {corpus: c.name})
WITH c, count(p) AS passages
SET c.connectedPassages = passages
RETURN c.name AS corpus
