// connect.storedEntities(corpus :: STRING, rows = null :: LIST OF STRING, after = '' :: STRING, limit = 100000 :: INT) :: (name :: STRING, node :: STRING, title :: STRING, type :: STRING)
// Entities of a corpus that no document is about, in their order, as they are stored: those of some names
// (`rows`), else the next `limit` after one.
// mode: READ
CALL () {
  UNWIND $rows AS name
  MATCH (e:NamedEntity {corpus: $corpus, name: name})
  RETURN e
  UNION
  WITH 1 AS all WHERE $rows IS NULL
  MATCH (e:NamedEntity {corpus: $corpus}) WHERE e.name > $after
  RETURN e ORDER BY e.name LIMIT $limit
}
RETURN e.name AS name, elementId(e) AS node, e.title AS title, e.type AS type
ORDER BY name
