// connect.finish(corpus :: STRING, graph :: STRING, settings :: STRING, of = null :: STRING, run = null :: STRING) :: (corpus :: STRING)
// Marks one graph of a corpus as finished and keeps the settings it was made with, and what the same
// documents would make the same graph with (`of`), where since `run` began nothing has changed.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
WITH c, [g IN coalesce(c.making, []) WHERE g <> $graph] AS making
SET c.making = CASE WHEN size(making) > 0 THEN making END,
    c.connected = [g IN coalesce(c.connected, []) WHERE g <> $graph] + [$graph],
    c.keywordSettings = CASE $graph WHEN 'keywords' THEN $settings ELSE c.keywordSettings END,
    c.keywordsOf = CASE WHEN $graph <> 'keywords' THEN c.keywordsOf WHEN c.keywordsOf = $run THEN $of END,
    c.entitiesOf = CASE WHEN $graph <> 'entities' THEN c.entitiesOf WHEN c.entitiesOf = $run THEN $of END,
    c.entitySettings = CASE $graph WHEN 'entities' THEN $settings ELSE c.entitySettings END,
    c.similaritySettings = CASE $graph WHEN 'similarity' THEN $settings ELSE c.similaritySettings END,
    c.mdrSettings = CASE $graph WHEN 'mdr' THEN $settings ELSE c.mdrSettings END,
    c.connectedAt = datetime()
RETURN c.name AS corpus
