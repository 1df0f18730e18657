// load.deleteCorpusDocuments(corpus :: STRING) :: (documents :: INT, passages :: INT)
// Deletes all documents of a corpus with their passages.
// mode: WRITE
MATCH (d:Document {corpus: $corpus})
CALL (d) {
  OPTIONAL MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
  WITH d, collect(p) AS gone
  FOREACH (p IN gone | DETACH DELETE p)
  WITH d, gone
  CALL (d) {
    MATCH (d)-[:HAS_PAGE|HAS_TABLE|HAS_SECTION|HAS_SOURCE]->(part)
    DETACH DELETE part
  }
  DETACH DELETE d
  RETURN size(gone) AS passages
} IN TRANSACTIONS OF 500 ROWS
RETURN count(*) AS documents, coalesce(sum(passages), 0) AS passages
