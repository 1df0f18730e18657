// connect.entityPassages(corpus :: STRING) :: (node :: STRING, id :: STRING, document :: STRING, documentNode :: STRING, title :: STRING, text :: STRING, linkedBy :: STRING)
// The passages of a corpus in order, each with its document, and the linker that has linked it.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
RETURN elementId(p) AS node, p.id AS id, d.id AS document, elementId(d) AS documentNode, d.title AS title,
       p.text AS text, p.linkedBy AS linkedBy
ORDER BY document, p.position
