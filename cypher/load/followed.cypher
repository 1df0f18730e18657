// load.followed(corpus :: STRING, folders :: LIST OF STRING, gone :: LIST OF STRING) :: (folders :: LIST OF MAP, documents :: LIST OF MAP)
// The files that folders had when they were loaded last (folder, files), and the documents of files that are gone:
// which of their sources are (gone), their own that are not (own), and those of documents that hold the same (others).
// mode: READ
CALL () {
  MATCH (f:DocumentFolder {corpus: $corpus})
  WHERE f.folder IN $folders
  RETURN collect(f {.folder, .files}) AS folders
}
CALL () {
  MATCH (d:Document {corpus: $corpus})
  WHERE size($gone) > 0
  WITH d, [d.source] + COLLECT { MATCH (d)-[:HAS_SOURCE]->(s) WHERE s.source <> d.source RETURN s.source ORDER BY s.source } AS sources
  WITH CASE WHEN d.contents IS NULL THEN d.key + ' ' + d.sha256 ELSE d.id END AS held,
       collect({id: d.id, sources: sources}) AS same
  WITH same, reduce(all = [], each IN same | all + [s IN each.sources WHERE NOT s IN $gone]) AS others
  UNWIND same AS each
  WITH each, others, [s IN each.sources WHERE s IN $gone] AS gone
  WHERE size(gone) > 0
  RETURN collect({id: each.id, gone: gone, own: [s IN each.sources WHERE NOT s IN gone], others: others}) AS documents
}
RETURN folders, documents
