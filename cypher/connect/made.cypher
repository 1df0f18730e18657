// connect.made(corpus :: STRING) :: (documents :: STRING, keywords :: STRING, entities :: STRING)
// A hash of all documents of a corpus as they are now, and what the keyword and the entity graph were
// made of, as `connect.finish` kept it (null where one was not made).
// mode: READ
MATCH (c:Corpus {name: $corpus})
CALL (c) {
  MATCH (d:Document {corpus: c.name})
  WITH d.id + ' ' + coalesce(d.fingerprint, '') AS document
  ORDER BY document
  RETURN apoc.util.sha256(collect(document)) AS documents
}
RETURN documents, c.keywordsOf AS keywords, c.entitiesOf AS entities
