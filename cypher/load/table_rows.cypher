// load.tableRows(corpus :: STRING, rows :: LIST OF MAP) :: (cells :: INT)
// Writes rows of tables with their cells, each row once; the tables and their columns are there.
// mode: WRITE
UNWIND $rows AS row
MATCH (t:Table {id: row.table})
CREATE (t)-[:HAS_ROW]->(r:Row {id: row.id, corpus: $corpus, table: t.id, order: row.order,
                                number: row.number, title: row.title})
SET r.page = row.page, r.total = row.total
WITH t, r, row
CALL (t) {
  MATCH (t)-[:HAS_COLUMN]->(c:Column)
  WITH c ORDER BY c.order
  RETURN collect(c) AS columns
}
UNWIND row.cells AS cell
WITH r, row, cell, columns[cell.column - 1] AS column
CREATE (r)-[:HAS_CELL]->(c:Cell {
  id: cell.id, corpus: $corpus, table: row.table, row: row.number, column: cell.column,
  text: cell.text, norm: cell.norm, title: cell.text, type: cell.type, value: cell.value,
  date: cell.date, unit: cell.unit, rowSpan: cell.rowSpan, columnSpan: cell.columnSpan,
  covered: cell.covered})<-[:HAS_CELL]-(column)
RETURN count(c) AS cells
