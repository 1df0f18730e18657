// browser.pathEdges(pairs :: LIST OF ANY) :: (source :: STRING, target :: STRING, edge :: STRING, reason :: STRING)
// Between the passages of an answer's best paths: the edge that says most about each pair, and why.
// mode: READ
CALL custom.kgp.pathEdges($pairs) YIELD source, target, edge, reason
MATCH (p:Passage {id: source}), (q:Passage {id: target})
RETURN p.title AS source, q.title AS target, edge, reason
