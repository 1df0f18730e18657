// kgp.cells(table :: STRING, row :: STRING, column :: STRING) :: (cell :: NODE, row :: STRING, column :: STRING, text :: STRING, value :: FLOAT)
// The cells of a table (by id) where a row and a column meet. A row is named by its number or by the
// text of a cell in it, a column by its number, or by its name or a part of it; '' means all.
// mode: READ
// example: MATCH (t:Table {corpus: 'demo'}) WITH t.id AS id LIMIT 1 CALL custom.kgp.cells(id, '1', '2') YIELD cell, row, column, text, value RETURN cell, row, column, text, value
MATCH (t:Table {id: $table})-[:HAS_COLUMN]->(c:Column)
WITH t, c, trim(apoc.text.replace(toLower($column), '[\\W_]+', ' ')) AS wanted
WITH t, collect({column: c, fit: CASE
       WHEN wanted = '' THEN 1
       WHEN c.norm = wanted THEN 3
       WHEN toString(c.order) = wanted THEN 2
       WHEN ' ' + c.norm + ' ' CONTAINS ' ' + wanted + ' ' THEN 1
       ELSE 0 END}) AS fits
WITH t, fits, reduce(best = 1, f IN fits | CASE WHEN f.fit > best THEN f.fit ELSE best END) AS best
WITH t, [f IN fits WHERE f.fit = best | f.column] AS columns
MATCH (t)-[:HAS_ROW]->(r:Row {header: false})
WHERE $row = '' OR toString(r.number) = $row
   OR EXISTS { (r)-[:HAS_CELL]->(n:Cell)
               WHERE n.norm = trim(apoc.text.replace(toLower($row), '[\\W_]+', ' ')) }
MATCH (r)-[:HAS_CELL]->(cell:Cell)<-[:HAS_CELL]-(c:Column)
WHERE c IN columns
RETURN cell, r.title AS row, c.title AS column, cell.text AS text, cell.value AS value
ORDER BY r.order, c.order
