// connect.removeKeywords(corpus :: STRING, rows :: LIST OF STRING) :: (written :: INT)
// Removes keywords of a corpus by their texts.
// mode: WRITE
UNWIND $rows AS row
MATCH (k:Keyword {corpus: $corpus, text: row})
DETACH DELETE k
RETURN count(*) AS written
