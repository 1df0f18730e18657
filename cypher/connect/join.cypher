// connect.join(corpus :: STRING, rows :: LIST OF MAP, type = 'SIMILAR_ST' :: STRING) :: (written :: INT)
// Replaces the edges of a type (SIMILAR_ST, SIMILAR_MDR) that go out from passages: each row has a node and its
// edges, lists of the other node and the score: (1 + cosine) / 2.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row.node AND p.corpus = $corpus
CALL (p) {
  MATCH (p)-[old:$($type)]->()
  DELETE old
}
UNWIND row.edges AS edge
MATCH (q:Passage) WHERE elementId(q) = edge[0] AND q.corpus = $corpus
CREATE (p)-[:$($type) {score: edge[1]}]->(q)
RETURN count(*) AS written
