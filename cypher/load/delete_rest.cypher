// load.deleteRest(corpus :: STRING) :: (nodes :: INT)
// Deletes what else carries a corpus: entities, structure, traces, and passages that lost their document.
// mode: WRITE
MATCH (n:Passage|NamedEntity|Page|Section|Table|Row|Column|Cell|Question)
WHERE n.corpus = $corpus
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS nodes
