// connect.passages(corpus :: STRING) :: (node :: STRING, id :: STRING, title :: STRING, text :: STRING)
// The passages of a corpus by node; the document's title stands on its first passage only.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
RETURN elementId(p) AS node, p.id AS id, CASE p.position WHEN 0 THEN d.title ELSE '' END AS title,
       p.text AS text
ORDER BY node
