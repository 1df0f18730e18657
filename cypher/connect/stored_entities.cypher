// connect.storedEntities(corpus :: STRING) :: (name :: STRING, node :: STRING, title :: STRING, type :: STRING)
// The entities of a corpus that no document is about, as they are stored.
// mode: READ
MATCH (e:NamedEntity {corpus: $corpus}) WHERE e.name >= ''
RETURN e.name AS name, elementId(e) AS node, e.title AS title, e.type AS type
