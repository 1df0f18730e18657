// connect.entityPassages(corpus :: STRING, anew = false :: BOOLEAN) :: (node :: STRING, id :: STRING, document :: STRING, documentNode :: STRING, title :: STRING, text :: STRING, linkedBy :: STRING, mentionMarks :: STRING, mentions :: INT, sharedMarks :: STRING, shared :: INT)
// The passages of a corpus in order, each with its document, the linker that has linked it, what `connect` noted
// of its mentions and shared-entity edges (nothing where these are to be made `anew`) and how many of each it has.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
RETURN elementId(p) AS node, p.id AS id, d.id AS document, elementId(d) AS documentNode, d.title AS title,
       CASE WHEN p.raw THEN '' ELSE p.text END AS text, CASE WHEN NOT $anew THEN p.linkedBy END AS linkedBy,
       CASE WHEN NOT $anew THEN p.mentionMarks END AS mentionMarks,
       COUNT { (p)-[:MENTIONS]->() } AS mentions,
       CASE WHEN NOT $anew THEN p.sharedEntityMarks END AS sharedMarks,
       COUNT { (p)-[:SHARES_ENTITY]->() } AS shared
ORDER BY document, p.position
