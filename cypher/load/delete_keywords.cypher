// load.deleteKeywords(corpus :: STRING) :: (keywords :: INT)
// Deletes all keywords of a corpus.
// mode: WRITE
MATCH (k:Keyword {corpus: $corpus})
WHERE k.text >= ''
CALL (k) {
  DETACH DELETE k
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS keywords
