// connect.entities(corpus :: STRING, rows :: LIST OF MAP) :: (name :: STRING, node :: STRING)
// Writes entities that no document is about: each row has name, title and type.
// mode: WRITE
UNWIND $rows AS row
MERGE (e:NamedEntity {corpus: $corpus, name: row.name})
SET e.title = row.title, e.type = row.type
RETURN e.name AS name, elementId(e) AS node
