// connect.embeddings(rows :: LIST OF MAP, property = 'embedding' :: STRING) :: (written :: INT)
// Writes embeddings: each row has a passage id and its unit vector, by the sentence encoder (`embedding`) or
// the MDR encoder (`mdrEmbedding`).
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
CALL db.create.setNodeVectorProperty(p, $property, row.vector)
RETURN count(p) AS written
