// connect.knownKeywords(corpus :: STRING, rows :: LIST OF STRING) :: (text :: STRING, frequency :: INT, named :: BOOLEAN)
// The keywords of a corpus that have one of some texts, as they are stored.
// mode: READ
UNWIND $rows AS text
MATCH (k:Keyword {corpus: $corpus, text: text})
RETURN k.text AS text, k.documentFrequency AS frequency, k.named AS named
