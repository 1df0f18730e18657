// connect.entities(corpus :: STRING, rows :: LIST OF MAP) :: (name :: STRING, node :: STRING)
// Writes phrases that passages share, as entities that no document is about: each row has name and title.
// mode: WRITE
UNWIND $rows AS row
MERGE (e:NamedEntity {corpus: $corpus, name: row.name})
SET e.title = row.title, e.type = 'Phrase'
RETURN e.name AS name, elementId(e) AS node
