// connect.naming(corpus :: STRING) :: (other :: STRING, title :: STRING, frequency :: INT, naming :: LIST OF ANY)
// Each document that passages mention: its first passage and its title, how many mention it, and each of
// these but that first one, with the score of the mention.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WITH d, COUNT { (d)<-[:MENTIONS]-() } AS frequency
WHERE frequency > 0
MATCH (d)-[:HAS_PASSAGE]->(q:Passage {position: 0})
RETURN elementId(q) AS other, d.title AS title, frequency,
       [(d)<-[m:MENTIONS]-(p:Passage) WHERE p <> q | [elementId(p), m.score]] AS naming
