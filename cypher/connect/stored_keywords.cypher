// connect.storedKeywords(corpus :: STRING, after = '' :: STRING, limit = 100000 :: INT) :: (text :: STRING, frequency :: INT, named :: BOOLEAN)
// The next `limit` keywords of a corpus `after` a text, in the order of their texts.
// mode: READ
MATCH (k:Keyword {corpus: $corpus}) WHERE k.text > $after
RETURN k.text AS text, k.documentFrequency AS frequency, k.named AS named
ORDER BY text LIMIT $limit
