// connect.mentionEdges(corpus :: STRING, passages :: INT, batch = 1000 :: INT) :: (made :: INT)
// Joins each passage that mentions a document to that document's first passage. The weight is the
// mention's score times how rare the document is among the corpus's `passages`, 0 to 1.
// mode: WRITE
MATCH (d:Document {corpus: $corpus})
WITH d, COUNT { (d)<-[:MENTIONS]-() } AS frequency
WHERE frequency > 0
CALL (d, frequency) {
  MATCH (d)-[:HAS_PASSAGE]->(q:Passage {position: 0})
  MATCH (d)<-[m:MENTIONS]-(p:Passage)
  WHERE p <> q
  CREATE (p)-[:SHARES_ENTITY {entities: [d.title], count: 1, namesTitle: true,
    weight: m.score * log(1.0 + 1.0 * $passages / frequency) / log(1.0 + $passages)}]->(q)
  RETURN count(*) AS edges
} IN TRANSACTIONS OF $batch ROWS
RETURN sum(edges) AS made
