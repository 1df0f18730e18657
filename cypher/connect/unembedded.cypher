// connect.unembedded(corpus :: STRING) :: (id :: STRING, title :: STRING, text :: STRING)
// The passages that have no embedding yet, with the title of their document.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
WHERE p.embedding IS NULL
RETURN p.id AS id, d.title AS title, p.text AS text
ORDER BY id
