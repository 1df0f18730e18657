// load.deleteDocuments(corpus :: STRING, ids :: LIST OF STRING) :: (documents :: INT, passages :: INT)
// Deletes documents with their passages, and keywords and entities that no passage
// has any longer.
// mode: WRITE
UNWIND $ids AS id
MATCH (d:Document {id: id, corpus: $corpus})
CALL (d) {
  MATCH (c:Corpus {name: d.corpus})
  // include: changed
  WITH d
  OPTIONAL MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
  WITH d, collect(p) AS gone
  // include: forget_passages
  WITH d, gone
  CALL (d) {
    MATCH (d)-[:HAS_PAGE|HAS_TABLE|HAS_SECTION|HAS_SOURCE]->(part)
    DETACH DELETE part
  }
  DETACH DELETE d
  RETURN size(gone) AS passages
} IN TRANSACTIONS OF 100 ROWS
RETURN count(*) AS documents, coalesce(sum(passages), 0) AS passages
