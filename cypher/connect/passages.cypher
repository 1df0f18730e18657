// connect.passages(corpus :: STRING) :: (id :: STRING, title :: STRING, text :: STRING)
// The passages of a corpus in order; the document's title stands on its first passage only.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
RETURN p.id AS id, CASE p.position WHEN 0 THEN d.title ELSE '' END AS title, p.text AS text
ORDER BY d.id, p.position
