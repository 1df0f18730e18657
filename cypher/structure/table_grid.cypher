// structure.tableGrid(table :: STRING, words :: LIST OF STRING, columns = [] :: LIST OF INT, most = 2000 :: INT) :: (name :: STRING, document :: STRING, documentTitle :: STRING, count :: INT, markdown :: STRING, columns :: LIST OF MAP, rows :: LIST OF MAP)
// A table with its columns and data rows. Of more than `most` rows, the first `most` and as many of
// those that have a cell with one of the words (in normal form) are given. Where `columns` names
// some, only their cells are given.
// mode: READ
MATCH (d:Document)-[:HAS_TABLE]->(t:Table {id: $table})
CALL (t) {
  MATCH (t)-[:HAS_COLUMN]->(c:Column)
  WITH c ORDER BY c.order
  RETURN collect(c {.order, .header, .norm, .type}) AS columns
}
CALL (t) {
  MATCH (t)-[:HAS_ROW]->(r:Row)
  WHERE 1 <= r.number <= $most
  RETURN r
  UNION
  MATCH (t)-[:HAS_ROW]->(r:Row)
  WHERE r.number > $most AND EXISTS {
    MATCH (r)-[:HAS_CELL]->(c:Cell)
    WHERE any(word IN $words WHERE ' ' + c.norm + ' ' CONTAINS ' ' + word + ' ')
  }
  RETURN r LIMIT $most
}
CALL (r) {
  MATCH (r)-[:HAS_CELL]->(c:Cell)
  WHERE size($columns) = 0 OR c.column IN $columns
  WITH c ORDER BY c.column
  RETURN collect([c.text, c.norm, c.value, c.date]) AS cells
}
WITH d, t, columns, r, cells ORDER BY r.number
RETURN t.name AS name, d.id AS document, d.title AS documentTitle,
       t.rows AS count, t.markdown AS markdown, columns,
       collect({number: r.number, title: r.title, page: r.page, cells: cells}) AS rows
