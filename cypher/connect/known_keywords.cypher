// connect.knownKeywords(corpus :: STRING, rows :: LIST OF STRING, nodes :: LIST OF STRING) :: (text :: STRING, frequency :: INT, named :: BOOLEAN)
// The keywords of a corpus that have one of some texts (`rows`) or belong to some passages (by node), as they
// are stored.
// mode: READ
CALL () {
  UNWIND $rows AS text
  MATCH (k:Keyword {corpus: $corpus, text: text})
  RETURN k
  UNION
  UNWIND $nodes AS node
  MATCH (p:Passage)-[:HAS_KEYWORD]->(k:Keyword) WHERE elementId(p) = node AND p.corpus = $corpus
  RETURN k
}
RETURN k.text AS text, k.documentFrequency AS frequency, k.named AS named
