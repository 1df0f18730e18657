// structure.rows(table :: STRING, numbers :: LIST OF INT, columns :: LIST OF INT, limit = 1000 :: INT) :: (number :: INT, title :: STRING, page :: INT, cells :: LIST OF STRING)
// Data rows of a table in their order; every row where no numbers are given, every column likewise.
// Negative numbers count from the end.
// mode: READ
MATCH (t:Table {id: $table})-[:HAS_ROW]->(r:Row)
WHERE r.number > 0 AND (size($numbers) = 0 OR r.number IN $numbers
                        OR r.number - t.rows - 1 IN $numbers)
WITH r ORDER BY r.number LIMIT $limit
CALL (r) {
  MATCH (r)-[:HAS_CELL]->(c:Cell)
  WHERE size($columns) = 0 OR c.column IN $columns
  WITH c ORDER BY c.column
  RETURN collect(c.text) AS cells
}
RETURN r.number AS number, r.title AS title, r.page AS page, cells
ORDER BY number
