// connect.removeEdges(corpus :: STRING, type :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Removes the edges of a type that go out from the passages of a corpus (SIMILAR_ST, SIMILAR_MDR,
// HAS_KEYWORD, SHARES_KEYWORD, MENTIONS, SHARES_ENTITY), and the marks that passages have of them, in
// batches that commit as they go.
// mode: WRITE
MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  FOREACH (_ IN CASE $type WHEN 'HAS_KEYWORD' THEN [1] ELSE [] END | REMOVE p.keywordMarks)
  FOREACH (_ IN CASE $type WHEN 'SHARES_KEYWORD' THEN [1] ELSE [] END | REMOVE p.sharedKeywordMarks)
  FOREACH (_ IN CASE $type WHEN 'MENTIONS' THEN [1] ELSE [] END | REMOVE p.mentionMarks)
  FOREACH (_ IN CASE $type WHEN 'SHARES_ENTITY' THEN [1] ELSE [] END | REMOVE p.sharedEntityMarks)
  WITH p
  MATCH (p)-[e:SIMILAR_ST|SIMILAR_MDR|HAS_KEYWORD|SHARES_KEYWORD|MENTIONS|SHARES_ENTITY]->()
  WHERE type(e) = $type
  DELETE e
  RETURN count(e) AS gone
} IN TRANSACTIONS OF $batch ROWS
RETURN coalesce(sum(gone), 0) AS removed
