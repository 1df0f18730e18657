// connect.storedKeywords(corpus :: STRING, rows = null :: LIST OF STRING, passages = null :: LIST OF STRING, after = '' :: STRING, limit = 100000 :: INT) :: (text :: STRING, frequency :: INT, named :: BOOLEAN)
// Keywords of a corpus in their order, as they are stored: those of some texts (`rows`), those of some passages (by
// node), else the next `limit` after one.
// mode: READ
CALL () {
  UNWIND $rows AS text
  MATCH (k:Keyword {corpus: $corpus, text: text})
  RETURN k
  UNION
  UNWIND $passages AS node
  MATCH (p:Passage)-[:HAS_KEYWORD]->(k:Keyword) WHERE elementId(p) = node AND p.corpus = $corpus
  RETURN k
  UNION
  WITH 1 AS all WHERE $rows IS NULL AND $passages IS NULL
  MATCH (k:Keyword {corpus: $corpus}) WHERE k.text > $after
  RETURN k ORDER BY k.text LIMIT $limit
}
RETURN k.text AS text, k.documentFrequency AS frequency, k.named AS named
ORDER BY text
