// structure.rows(table :: STRING, numbers = [] :: LIST OF INT, columns = [] :: LIST OF INT, words = [] :: LIST OF STRING, limit = 1000 :: INT) :: (number :: INT, title :: STRING, page :: INT, total :: STRING, cells :: LIST OF ANY)
// Data rows of a table in their order, at most `limit`; every row where no numbers are given
// (negative ones count from the end), every column likewise. As many rows below those are added
// that have a cell with one of the words, one for each text of a column. Cells are text, normal form, number and date;
// `total` is what a row is of others: their sum, or average.
// mode: READ
MATCH (t:Table {id: $table})
CALL (t) {
  MATCH (t)-[:HAS_ROW]->(r:Row)
  WHERE r.number > 0 AND (size($numbers) = 0 OR r.number IN $numbers
                          OR r.number - t.rows - 1 IN $numbers)
  RETURN r ORDER BY r.number LIMIT $limit
  UNION
  MATCH (t)-[:HAS_ROW]->(r:Row)
  WHERE size($words) > 0 AND r.number > $limit
  MATCH (r)-[:HAS_CELL]->(c:Cell)
  WHERE any(word IN $words WHERE ' ' + c.norm + ' ' CONTAINS ' ' + word + ' ')
  WITH c.column AS column, c.norm AS norm, head(collect(r)) AS r
  RETURN DISTINCT r LIMIT $limit
}
CALL (r) {
  MATCH (r)-[:HAS_CELL]->(c:Cell)
  WHERE size($columns) = 0 OR c.column IN $columns
  WITH c ORDER BY c.column
  RETURN collect([c.text, c.norm, c.value, c.date]) AS cells
}
RETURN r.number AS number, r.title AS title, r.page AS page, r.total AS total, cells
ORDER BY number
