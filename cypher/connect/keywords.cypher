// connect.keywords(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Writes keywords: each row has text, frequency (passages that have it) and named (it is a title).
// mode: WRITE
UNWIND $rows AS row
MERGE (k:Keyword {corpus: $corpus, text: row.text})
SET k.title = row.text, k.documentFrequency = row.frequency, k.named = row.named
RETURN count(k) AS written
