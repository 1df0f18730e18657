// connect.sharedKeywords(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Replaces the shared-keyword edges that go out from passages: each row has a node, the marks of its
// edges, and the edges: lists of the other node, how many keywords both share, their weight, the
// first of them, and whether the first passage names the other one's title.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row.node AND p.corpus = $corpus
SET p.sharedKeywordMarks = row.marks
WITH p, row
CALL (p) {
  MATCH (p)-[old:SHARES_KEYWORD]->()
  DELETE old
}
UNWIND row.edges AS edge
MATCH (q:Passage) WHERE elementId(q) = edge[0] AND q.corpus = $corpus
CREATE (p)-[:SHARES_KEYWORD
  {count: edge[1], weight: edge[2], keywords: edge[3], namesTitle: edge[4]}]->(q)
RETURN count(*) AS written
