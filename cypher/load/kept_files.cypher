// load.keptFiles(corpus :: STRING) :: (database :: STRING, hashes :: LIST OF STRING)
// The id of this database, and the sums of the bytes of a corpus's files whose pages can be shown.
// mode: READ
CALL db.info() YIELD id
RETURN id AS database, COLLECT {
  MATCH (d:Document {corpus: $corpus})
  WHERE d.fileHash IS NOT NULL
  RETURN DISTINCT d.fileHash
} AS hashes
