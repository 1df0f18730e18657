// connect.similarOnes(corpus :: STRING, rows :: LIST OF STRING) :: (node :: STRING, other :: STRING, score :: FLOAT)
// The similarity edges that go out from passages of a corpus (by node).
// mode: READ
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row AND p.corpus = $corpus
MATCH (p)-[s:SIMILAR_ST]->(q:Passage)
RETURN row AS node, elementId(q) AS other, s.score AS score
