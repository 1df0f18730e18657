// connect.embeddings(rows :: LIST OF MAP) :: (written :: INT)
// Writes embeddings: each row has a passage id and its unit vector.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
CALL db.create.setNodeVectorProperty(p, 'embedding', row.vector)
RETURN count(p) AS written
