// trace.remove(ids :: LIST OF STRING, corpus = null :: STRING) :: (traces :: INT)
// Removes stored traversals by their ids; of a corpus alone, where one is given.
// mode: WRITE
MATCH (q:Question)
WHERE q.id IN $ids AND ($corpus IS NULL OR q.corpus = $corpus)
CALL (q) {
  DETACH DELETE q
} IN TRANSACTIONS OF 200 ROWS
RETURN count(*) AS traces
