// connect.join(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Replaces the similarity edges that go out from passages: each row has a node and its edges, lists
// of the other node and the score.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row.node AND p.corpus = $corpus
CALL (p) {
  MATCH (p)-[old:SIMILAR_ST]->()
  DELETE old
}
UNWIND row.edges AS edge
MATCH (q:Passage) WHERE elementId(q) = edge[0] AND q.corpus = $corpus
CREATE (p)-[:SIMILAR_ST {score: edge[1]}]->(q)
RETURN count(*) AS written
