// connect.storedEntities(corpus :: STRING, after = '' :: STRING, limit = 100000 :: INT) :: (name :: STRING, node :: STRING, title :: STRING)
// The next `limit` entities of a corpus that no document is about `after` a name, in the order of their names.
// mode: READ
MATCH (e:NamedEntity {corpus: $corpus}) WHERE e.name > $after
RETURN e.name AS name, elementId(e) AS node, e.title AS title
ORDER BY name LIMIT $limit
