// connect.storedEntities(corpus :: STRING, after = '' :: STRING, limit = 100000 :: INT) :: (name :: STRING, node :: STRING, title :: STRING, type :: STRING)
// The next `limit` entities of a corpus that no document is about, in their order, as they are stored.
// mode: READ
MATCH (e:NamedEntity {corpus: $corpus}) WHERE e.name > $after
RETURN e.name AS name, elementId(e) AS node, e.title AS title, e.type AS type
ORDER BY name
LIMIT $limit
