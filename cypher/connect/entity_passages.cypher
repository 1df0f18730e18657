// connect.entityPassages(corpus :: STRING) :: (id :: STRING, document :: STRING, title :: STRING, text :: STRING, linkedBy :: STRING)
// The passages of a corpus in order, each with its document, and the linker that has linked it.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
RETURN p.id AS id, d.id AS document, d.title AS title, p.text AS text, p.linkedBy AS linkedBy
ORDER BY document, p.position
