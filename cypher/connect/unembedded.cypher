// connect.unembedded(corpus :: STRING, property = 'embedding' :: STRING, replace = false :: BOOLEAN) :: (id :: STRING, title :: STRING, text :: STRING)
// The passages, but for `raw` ones, that have no embedding (`embedding` or `mdrEmbedding`) yet, or all that are to `replace` one, with
// the title of their document.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
WHERE p.raw IS NULL AND ($replace OR p[$property] IS NULL)
RETURN p.id AS id, d.title AS title, p.text AS text
ORDER BY id
