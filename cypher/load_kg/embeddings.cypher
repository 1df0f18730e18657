// loadKg.embeddings(rows :: LIST OF MAP) :: (written :: INT)
// Writes embeddings of entities: each row has an id and a unit vector.
// mode: WRITE
UNWIND $rows AS row
MATCH (e:Entity {id: row.id})
CALL db.create.setNodeVectorProperty(e, 'embedding', row.vector)
RETURN count(e) AS written
