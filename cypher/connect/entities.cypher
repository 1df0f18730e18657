// connect.entities(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Writes entities that no document is about: each row has name, title and type.
// mode: WRITE
UNWIND $rows AS row
MERGE (e:Entity {corpus: $corpus, name: row.name})
SET e.title = row.title, e.type = row.type
RETURN count(e) AS written
