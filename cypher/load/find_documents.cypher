// load.findDocuments(corpus :: STRING, text :: STRING, files :: LIST OF STRING) :: (id :: STRING, title :: STRING, sources :: LIST OF STRING, by :: STRING, source :: STRING)
// The documents that a text names, and by what: their id, a source (or file) or title, in this order; `source` is the
// one that is named.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WITH d, [d.source] + COLLECT { MATCH (d)-[:HAS_SOURCE]->(s) WHERE s.source <> d.source RETURN s.source ORDER BY s.source } AS sources
WITH d, sources, head([source IN sources WHERE source = $text OR source IN $files]) AS source
WHERE $text IN [d.id, d.title] OR source IS NOT NULL
RETURN d.id AS id, d.title AS title, sources,
       CASE WHEN d.id = $text THEN 'id'
            WHEN source IS NOT NULL THEN 'source'
            ELSE 'title' END AS by, source
ORDER BY by, title, source, id
