// load.stored(corpus :: STRING, rows :: LIST OF MAP) :: (asked :: STRING, by :: STRING, id :: STRING, title :: STRING, contents :: STRING, sources :: LIST OF STRING, fingerprint :: STRING, passages :: INT, characters :: INT, whole :: BOOLEAN)
// The documents that have one of these ids, a further source of this id, or these contents, where any are given (by: id,
// source, contents), with whether all their text and tables are there (whole); the first source is the document's own.
// mode: READ
CALL () {
  UNWIND $rows AS row
  MATCH (d:Document {id: row.id})
  RETURN row.id AS asked, d, 'id' AS by
  UNION ALL
  UNWIND [row IN $rows WHERE row.contents IS NOT NULL] AS row
  MATCH (:DocumentSource {id: row.id})<-[:HAS_SOURCE]-(d:Document)
  RETURN row.id AS asked, d, 'source' AS by
  UNION ALL
  UNWIND [row IN $rows WHERE row.contents IS NOT NULL] AS row
  MATCH (d:Document {corpus: $corpus, contents: row.contents})
  RETURN row.id AS asked, d, 'contents' AS by
}
CALL (d) {
  OPTIONAL MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
  RETURN count(p) AS passages, coalesce(sum(size(p.text)), 0) AS characters
}
RETURN asked, by, d.id AS id, d.title AS title, d.contents AS contents,
       CASE WHEN d.contents IS NULL THEN [d.source]
            ELSE [d.source] + COLLECT { MATCH (d)-[:HAS_SOURCE]->(s) WHERE s.source <> d.source RETURN s.source ORDER BY s.source } END AS sources,
       d.fingerprint AS fingerprint, passages, characters,
       characters = d.characters AND coalesce(d.structured, true) AS whole
ORDER BY id
