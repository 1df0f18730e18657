// load.findDocuments(corpus :: STRING, text :: STRING, file :: STRING) :: (id :: STRING, title :: STRING, source :: STRING, by :: STRING)
// The documents that a text names, and by what: their id, source (or file) or title, in this order.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WHERE $text IN [d.id, d.source, d.title] OR d.source = $file
RETURN d.id AS id, d.title AS title, d.source AS source,
       CASE WHEN d.id = $text THEN 'id'
            WHEN d.source IN [$text, $file] THEN 'source'
            ELSE 'title' END AS by
ORDER BY by, title, source, id
