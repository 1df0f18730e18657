// connect.storedKeywords(corpus :: STRING) :: (text :: STRING, frequency :: INT, named :: BOOLEAN)
// The keywords of a corpus as they are stored.
// mode: READ
MATCH (k:Keyword {corpus: $corpus}) WHERE k.text >= ''
RETURN k.text AS text, k.documentFrequency AS frequency, k.named AS named
