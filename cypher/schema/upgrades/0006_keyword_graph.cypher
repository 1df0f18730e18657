// upgrade.0006KeywordGraph(batch = 5000 :: INT) :: (changed :: INT)
// Renames the mark of passages that the keyword graph has seen: `connected` is a list on a corpus.
// mode: WRITE
MATCH (p:Passage)
WHERE p.connected IS NOT NULL
CALL (p) {
  SET p.inKeywordGraph = p.connected
  REMOVE p.connected
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS changed
