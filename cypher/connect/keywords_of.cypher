// connect.keywordsOf(corpus :: STRING, rows :: LIST OF STRING) :: (text :: STRING, frequency :: INT, named :: BOOLEAN)
// The keywords of some passages (by node), each once, as they are stored.
// mode: READ
UNWIND $rows AS row
MATCH (p:Passage)-[:HAS_KEYWORD]->(k:Keyword) WHERE elementId(p) = row AND p.corpus = $corpus
WITH DISTINCT k
RETURN k.text AS text, k.documentFrequency AS frequency, k.named AS named
