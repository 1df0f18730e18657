// connect.edges(corpus :: STRING, rows :: LIST OF STRING, type = 'SIMILAR_ST' :: STRING) :: (node :: STRING, other :: STRING, weight :: FLOAT, namesTitle :: BOOLEAN)
// The edges of a type that go out from passages of a corpus (by node) to others, with their weight or score.
// mode: READ
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row AND p.corpus = $corpus
MATCH (p)-[e:$($type)]->(q:Passage)
RETURN row AS node, elementId(q) AS other, coalesce(e.weight, e.score) AS weight,
       coalesce(e.namesTitle, false) AS namesTitle
