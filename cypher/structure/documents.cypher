// structure.documents(corpus :: STRING) :: (id :: STRING, title :: STRING, source :: STRING, pages :: INT, tables :: INT)
// The documents of a corpus that have pages or tables, by title, with how many of each.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WHERE d.pages > 0 OR d.tables > 0
RETURN d.id AS id, d.title AS title, d.source AS source, coalesce(d.pages, 0) AS pages,
       coalesce(d.tables, 0) AS tables
ORDER BY title, source, id
