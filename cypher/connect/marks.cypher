// connect.marks(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Notes what was written of passages: each row has the id of a passage and its marks by their names. Passages
// that are gone stay so.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
WHERE p.corpus = $corpus
SET p += row.marks
RETURN count(p) AS written
