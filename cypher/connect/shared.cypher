// connect.shared(corpus :: STRING, rows :: LIST OF MAP, type :: STRING, items :: STRING, marks :: STRING) :: (written :: INT)
// Writes edges of a type (SHARES_KEYWORD, SHARES_ENTITY) that go out from passages, in the place of those that
// are there: each row has a node, the marks of its edges, and the edges: lists of the other node, how many keywords
// or entities both share, their weight, the first of them, and whether the first passage names the other one's title.
// `items` and `marks` name the properties.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row.node AND p.corpus = $corpus
CALL (p, row) {
  SET p[$marks] = row.marks
  WITH p
  MATCH (p)-[old:$($type)]->()
  DELETE old
}
UNWIND row.edges AS edge
MATCH (q:Passage) WHERE elementId(q) = edge[0] AND q.corpus = $corpus
CREATE (p)-[e:$($type) {count: edge[1], weight: edge[2], namesTitle: edge[4]}]->(q)
SET e[$items] = edge[3]
RETURN count(*) AS written
