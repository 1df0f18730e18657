// connect.connected(rows :: LIST OF STRING) :: (written :: INT)
// Marks passages (by id) as seen by the keyword graph, whether they have a keyword or not.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row})
SET p.inKeywordGraph = true
RETURN count(p) AS written
