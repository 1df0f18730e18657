// connect.naming(corpus :: STRING) :: (passage :: STRING, other :: STRING, title :: STRING, score :: FLOAT, frequency :: INT)
// The passages that mention a document, each with that document's first passage and title, the score
// of the mention, and how many passages mention the document.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WITH d, COUNT { (d)<-[:MENTIONS]-() } AS frequency
WHERE frequency > 0
MATCH (d)-[:HAS_PASSAGE]->(q:Passage {position: 0})
MATCH (d)<-[m:MENTIONS]-(p:Passage)
WHERE p <> q
RETURN elementId(p) AS passage, elementId(q) AS other, d.title AS title, m.score AS score, frequency
