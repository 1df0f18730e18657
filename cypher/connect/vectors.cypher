// connect.vectors(corpus :: STRING, property = 'embedding' :: STRING, after = '' :: STRING, limit = 20000 :: INT) :: (id :: STRING, node :: STRING, vector :: LIST OF FLOAT)
// The next `limit` passages `after` an id that have an embedding (`embedding` or `mdrEmbedding`), by id.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WHERE p.id > $after AND p[$property] IS NOT NULL
WITH p ORDER BY p.id LIMIT $limit
RETURN p.id AS id, elementId(p) AS node, p[$property] AS vector
ORDER BY id
