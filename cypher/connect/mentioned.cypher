// connect.mentioned(corpus :: STRING, maxFrequency = 50 :: INT) :: (title :: STRING, single :: BOOLEAN, passages :: LIST OF STRING)
// What two to `maxFrequency` passages of a corpus mention, whether it is a phrase of one word, and the
// nodes of these passages.
// mode: READ
MATCH (:Passage {corpus: $corpus})-[:MENTIONS]->(e)
WITH DISTINCT e
WHERE 2 <= COUNT { (e)<-[:MENTIONS]-() } <= $maxFrequency
RETURN e.title AS title, coalesce(e.type = 'Phrase' AND NOT e.name CONTAINS ' ', false) AS single,
       [(p:Passage)-[:MENTIONS]->(e) | elementId(p)] AS passages
