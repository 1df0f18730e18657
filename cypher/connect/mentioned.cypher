// connect.mentioned(corpus :: STRING, maxFrequency = 50 :: INT) :: (title :: STRING, single :: BOOLEAN, passages :: LIST OF STRING)
// What two to `maxFrequency` passages of a corpus mention, whether it is a phrase of one word, and the
// nodes of these passages.
// mode: READ
MATCH (p:Passage {corpus: $corpus})-[:MENTIONS]->(e)
WITH e, collect(elementId(p)) AS passages
WHERE 2 <= size(passages) <= $maxFrequency
RETURN e.title AS title, coalesce(e.type = 'Phrase' AND NOT e.name CONTAINS ' ', false) AS single,
       passages
