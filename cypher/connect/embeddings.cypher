// connect.embeddings(rows :: LIST OF MAP, space = 'st' :: STRING) :: (written :: INT)
// Writes embeddings: each row has a passage id and its unit vector. `space` says of which encoder: the
// corpus's sentence encoder ('st') or its MDR encoder ('mdr').
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
CALL db.create.setNodeVectorProperty(
  p, CASE $space WHEN 'mdr' THEN 'mdrEmbedding' ELSE 'embedding' END, row.vector)
RETURN count(p) AS written
