// connect.connected(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Marks passages as seen by the keyword graph, whether they have a keyword or not: each row has a
// node and the marks of its keywords, once all of them are written.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row.node AND p.corpus = $corpus
SET p.inKeywordGraph = true, p.keywordMarks = row.marks
RETURN count(p) AS written
