// load.removeCorpusStructure(corpus :: STRING) :: (nodes :: INT)
// Removes rows, columns and cells of all tables of a corpus, a few thousand at a time; it can be
// cut short and run again.
// mode: WRITE
MATCH (t:Table {corpus: $corpus})-[:HAS_ROW|HAS_COLUMN]->(part)
CALL (part) {
  OPTIONAL MATCH (part)-[:HAS_CELL]->(c:Cell)
  WITH part, collect(c) AS cells
  FOREACH (c IN cells | DETACH DELETE c)
  DETACH DELETE part
  RETURN size(cells) + 1 AS removed
} IN TRANSACTIONS OF 500 ROWS
RETURN coalesce(sum(removed), 0) AS nodes
