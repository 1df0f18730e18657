// connect.removeKeywords(corpus :: STRING, rows :: LIST OF STRING) :: (written :: INT)
// Removes those keywords of a corpus, of some texts, that no passage has.
// mode: WRITE
UNWIND $rows AS row
MATCH (k:Keyword {corpus: $corpus, text: row})
WHERE NOT EXISTS { (k)<-[:HAS_KEYWORD]-() }
DELETE k
RETURN count(*) AS written
