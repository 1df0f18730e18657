// load.stored(ids :: LIST OF STRING) :: (id :: STRING, fingerprint :: STRING, passages :: INT, characters :: INT, whole :: BOOLEAN)
// Which of these documents are stored, and whether all their text and tables are there (whole).
// mode: READ
UNWIND $ids AS id
MATCH (d:Document {id: id})
CALL (d) {
  OPTIONAL MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
  RETURN count(p) AS passages, coalesce(sum(size(p.text)), 0) AS characters
}
RETURN d.id AS id, d.fingerprint AS fingerprint, passages, characters,
       characters = d.characters AND coalesce(d.structured, true) AS whole
