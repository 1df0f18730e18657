// load.finishTables(ids :: LIST OF STRING) :: (id :: STRING, cells :: INT)
// Notes that all rows of these documents' tables are written, and counts their cells.
// mode: WRITE
UNWIND $ids AS id
MATCH (d:Document {id: id})
CALL (d) {
  OPTIONAL MATCH (d)-[:HAS_TABLE]->(:Table)-[:HAS_ROW]->(:Row)-[:HAS_CELL]->(c:Cell)
  RETURN count(c) AS cells
}
SET d.structured = cells = d.cells
RETURN d.id AS id, cells
