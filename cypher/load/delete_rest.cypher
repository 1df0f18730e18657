// load.deleteRest(corpus :: STRING) :: (nodes :: INT)
// Deletes what else belongs to a corpus: entities, structure, traces, its graphs, and passages that lost their document;
// and its own node last of all, so that a deletion cut short can be finished.
// mode: WRITE
CALL () {
  MATCH (n:Passage {corpus: $corpus})
  RETURN n
  UNION ALL
  MATCH (n:NamedEntity {corpus: $corpus})
  WHERE n.name >= ''
  RETURN n
  UNION ALL
  MATCH (n:Graph {corpus: $corpus})
  RETURN n
  UNION ALL
  MATCH (n:Page|Section|Table|Row|Column|Cell|DocumentFolder|DocumentSource|Question)
  WHERE n.corpus = $corpus
  RETURN n
}
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 1000 ROWS
WITH count(*) AS nodes
OPTIONAL MATCH (c:Corpus {name: $corpus})
DETACH DELETE c
RETURN nodes
