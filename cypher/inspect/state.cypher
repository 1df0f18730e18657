// inspect.state(corpus :: STRING) :: (encoder :: STRING, connected :: LIST OF STRING, complete :: BOOLEAN, language :: STRING, begun :: BOOLEAN)
// What a question needs to know of a corpus, at a cost that does not grow with it: its encoder, which graphs it has,
// whether all of its passages are known to be in them, the language that its full-text search stems, and whether
// `connect` has ever begun with it. No row where there is no such corpus.
// mode: READ
MATCH (c:Corpus {name: $corpus})
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(g:Graph)
WITH c, g ORDER BY g.madeAt
RETURN max(CASE g.type WHEN 'similarity' THEN g.encoder END) AS encoder,
       collect(CASE WHEN g.madeAt IS NOT NULL THEN g.type END) AS connected, coalesce(c.complete, false) AS complete,
       c.language AS language, count(g) > 0 AS begun
