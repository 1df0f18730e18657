// load.stored(corpus :: STRING, rows :: LIST OF MAP) :: (asked :: STRING, by :: STRING, id :: STRING, title :: STRING, contents :: STRING, sources :: LIST OF STRING, fingerprint :: STRING, passages :: INT, characters :: INT, whole :: BOOLEAN)
// The documents that have one of these ids, a further source of this id, or these contents (by: id, source,
// contents), with whether all their text and tables are there (whole); the first source is the document's own.
// mode: READ
UNWIND $rows AS row
CALL (row) {
  MATCH (d:Document {id: row.id})
  RETURN d, 'id' AS by
  UNION ALL
  MATCH (:DocumentSource {id: row.id})<-[:HAS_SOURCE]-(d:Document)
  WHERE row.contents IS NOT NULL
  RETURN d, 'source' AS by
  UNION ALL
  MATCH (d:Document {corpus: $corpus, contents: row.contents})
  RETURN d, 'contents' AS by
}
CALL (d) {
  OPTIONAL MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
  RETURN count(p) AS passages, coalesce(sum(size(p.text)), 0) AS characters
}
RETURN row.id AS asked, by, d.id AS id, d.title AS title, d.contents AS contents,
       [d.source] + COLLECT { MATCH (d)-[:HAS_SOURCE]->(s) WHERE s.source <> d.source RETURN s.source ORDER BY s.source } AS sources,
       d.fingerprint AS fingerprint, passages, characters,
       characters = d.characters AND coalesce(d.structured, true) AS whole
ORDER BY id
