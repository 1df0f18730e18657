// connect.embeddings(rows :: LIST OF MAP, property = 'embedding' :: STRING) :: (written :: INT)
// Writes embeddings: each row has the id of a passage or of an entity of a knowledge graph and its unit vector, by
// the sentence encoder (`embedding`) or the MDR encoder (`mdrEmbedding`).
// mode: WRITE
UNWIND $rows AS row
MATCH (n:Passage|Entity {id: row.id})
CALL db.create.setNodeVectorProperty(n, $property, row.vector)
RETURN count(n) AS written
