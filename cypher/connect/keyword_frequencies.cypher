// connect.keywordFrequencies(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Notes how many passages have each of some keywords: each row has text and frequency.
// mode: WRITE
UNWIND $rows AS row
MATCH (k:Keyword {corpus: $corpus, text: row.text})
SET k.documentFrequency = row.frequency
RETURN count(*) AS written
