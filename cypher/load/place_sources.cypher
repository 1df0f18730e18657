// load.placeSources(corpus :: STRING, placed :: LIST OF MAP, left :: LIST OF MAP) :: (sources :: INT)
// Notes further sources of documents (placed: document, id, source), then takes sources off documents (left: document,
// source), whose next one becomes their own.
// mode: WRITE
CALL () {
  UNWIND $placed AS row
  MATCH (d:Document {id: row.document})
  MERGE (s:DocumentSource {id: row.id})
  SET s.corpus = $corpus, s.source = row.source
  WITH d, s
  CALL (d, s) {
    MATCH (s)<-[old:HAS_SOURCE]-(before) WHERE before <> d
    DELETE old
  }
  MERGE (d)-[:HAS_SOURCE]->(s)
}
CALL () {
  UNWIND $left AS row
  WITH row.document AS id, collect(row.source) AS leaving
  MATCH (d:Document {id: id})
  OPTIONAL MATCH (d)-[:HAS_SOURCE]->(s:DocumentSource)
  WITH d, leaving, s ORDER BY s.source
  WITH d, leaving, collect(s) AS all
  WITH d, leaving, [s IN all WHERE s.source IN leaving] AS gone,
       [s IN all WHERE NOT s.source IN leaving | s.source] AS rest
  SET d.source = CASE WHEN d.source IN leaving THEN coalesce(rest[0], d.source) ELSE d.source END
  FOREACH (s IN gone | DETACH DELETE s)
}
RETURN size($placed) AS sources
