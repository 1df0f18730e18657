// load.removeStructure(documents :: LIST OF STRING) :: (nodes :: INT)
// Removes rows, columns and cells of the tables of documents, a few thousand at a time; it can be
// cut short and run again.
// mode: WRITE
UNWIND $documents AS id
MATCH (:Document {id: id})-[:HAS_TABLE]->(t:Table)-[:HAS_ROW|HAS_COLUMN]->(part)
CALL (part) {
  OPTIONAL MATCH (part)-[:HAS_CELL]->(c:Cell)
  WITH part, collect(c) AS cells
  FOREACH (c IN cells | DETACH DELETE c)
  DETACH DELETE part
  RETURN size(cells) + 1 AS removed
} IN TRANSACTIONS OF 500 ROWS
RETURN coalesce(sum(removed), 0) AS nodes
