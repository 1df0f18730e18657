// trace.remove(ids = null :: LIST OF STRING, corpus = null :: STRING, older = null :: FLOAT) :: (traces :: INT)
// Removes stored traversals: those of these ids, of a corpus, or stored longer ago than so
// many seconds; what is given must all hold.
// mode: WRITE
MATCH (q:Question)
WHERE ($ids IS NULL OR q.id IN $ids)
  AND ($corpus IS NULL OR q.corpus = $corpus)
  AND ($older IS NULL OR q.askedAt < datetime() - duration({seconds: $older}))
CALL (q) {
  DETACH DELETE q
} IN TRANSACTIONS OF 200 ROWS
RETURN count(*) AS traces
