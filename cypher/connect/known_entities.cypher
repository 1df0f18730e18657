// connect.knownEntities(corpus :: STRING, rows :: LIST OF STRING) :: (name :: STRING, node :: STRING, title :: STRING, type :: STRING)
// The entities of a corpus that no document is about and that have one of some names, as they are stored.
// mode: READ
UNWIND $rows AS name
MATCH (e:NamedEntity {corpus: $corpus, name: name})
RETURN e.name AS name, elementId(e) AS node, e.title AS title, e.type AS type
