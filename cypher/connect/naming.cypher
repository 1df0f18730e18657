// connect.naming(corpus :: STRING) :: (passage :: STRING, other :: STRING, title :: STRING, weight :: FLOAT)
// The passages that mention a document, each with that document's first passage and title. The weight
// is the mention's score times how rare the document is among the corpus's passages, 0 to 1.
// mode: READ
CALL () {
  MATCH (p:Passage {corpus: $corpus})
  RETURN count(p) AS passages
}
MATCH (d:Document {corpus: $corpus})
WITH d, passages, COUNT { (d)<-[:MENTIONS]-() } AS frequency
WHERE frequency > 0
MATCH (d)-[:HAS_PASSAGE]->(q:Passage {position: 0})
MATCH (d)<-[m:MENTIONS]-(p:Passage)
WHERE p <> q
RETURN elementId(p) AS passage, elementId(q) AS other, d.title AS title,
       m.score * log(1.0 + 1.0 * passages / frequency) / log(1.0 + passages) AS weight
